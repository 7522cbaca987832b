"""Operators that scale with their inputs: twice the source makes twice the solution, twice the medium half of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from gola.operators.cloud import Cloud
from gola.representation.fitted import Fitted

# A channel more has to explain so much of what the others leave of the spread of solutions.
_LEAST_GAIN = 0.1
# So many standard errors the power of an amplitude is above 0, and at most from 1, or nearly 1.
_MARGIN, _NEARLY = 3.0, 0.1

Degrees = tuple[int, ...]


class Homogeneity(Fitted):
    r"""Amplitudes of inputs, by which an operator is known to scale.

    .. math:: u(\lambda f, \mu a, g) = \frac{\lambda}{\mu} \, u(f, a, g), \qquad \lambda, \mu > 0

    for sources f and media a, all of one kind together, and other inputs g. So do solutions of steady diffusion scale
    with source and medium, displacements with loads and stiffness, travel times with speed. Samples that differ in
    amplitude only are one, so without amplitudes less is left to learn. The amplitude of the sources is their root mean
    square, each channel in its unit, and that of the media their geometric mean. That points tell them roughly does not
    matter: the formula holds for any number.

    Attributes:
        degrees: 1 for input channels that are sources, −1 for media, 0 for others.
        units: Root mean square of each input channel over the training samples.
    """

    degrees: Int[Tensor, " channel"]
    units: Float[Tensor, " channel"]

    def __init__(self, num_inputs: int) -> None:
        super().__init__()
        self.register_buffer("degrees", torch.zeros(num_inputs, dtype=torch.int64))
        self.register_buffer("units", torch.ones(num_inputs, dtype=torch.float64))

    @staticmethod
    def suspected(
        inputs: Sequence[Float[Tensor, "_ channel"]], targets: Sequence[Float[Tensor, "_ target_channel"]]
    ) -> "Homogeneity":
        """Return the sources and media that explain best how large the solutions are; there may be none."""
        found = Homogeneity(inputs[0].shape[1])
        squares = _mean_squares(inputs)
        found.units = _positive(squares.mean(dim=0)).sqrt()
        heights = _heights(targets)
        logarithms = torch.stack([values.log().mean(dim=0) for values in inputs])
        is_positive = logarithms.isfinite().all(dim=0).tolist()

        def unexplained(degrees: Degrees) -> float:
            roles = torch.tensor(degrees, device=squares.device)
            left = heights - _source(squares / found.units.square(), roles == 1).log()
            if -1 in degrees:
                left = left + logarithms[:, roles == -1].mean(dim=1)
            return float(left.var()) * (1.0 - _LEAST_GAIN) ** -sum(map(abs, degrees))

        # Components of a vector explain little one by one, so the search also starts from all channels.
        starts = ((0,) * len(is_positive), (1,) * len(is_positive))
        best = min((_descended(start, unexplained, is_positive) for start in starts), key=unexplained)
        found.degrees = torch.tensor(best, device=squares.device)
        return found

    def is_supported(
        self, inputs: Sequence[Float[Tensor, "_ channel"]], targets: Sequence[Float[Tensor, "_ target_channel"]]
    ) -> bool:
        """Whether sizes of solutions follow the amplitudes, by a margin: with a power of about 1, and hardly of 0.

        The powers of sources and media are those of a linear regression between logarithms.
        """
        amplitudes = torch.stack(self._amplitudes(inputs), dim=1).log()
        kinds = torch.stack([(self.degrees == 1).any(), (self.degrees == -1).any()])
        signs = amplitudes.new_tensor([1.0, -1.0])
        known = torch.cat([amplitudes.new_ones(len(inputs), 1), (signs * amplitudes)[:, kinds]], dim=1)
        freedom = len(known) - known.shape[1]
        if freedom < 1:
            return False
        precision, heights = torch.linalg.pinv(known.T @ known), _heights(targets)
        powers = precision @ known.T @ heights
        noise = (heights - known @ powers).square().sum() / freedom
        # Of few samples the standard error itself is uncertain.
        margins = _MARGIN * (1.0 + 2.0 / freedom) * (noise * precision.diagonal()).sqrt()
        return bool(((powers > margins) & ((powers - 1.0).abs() < margins + _NEARLY))[1:].all())

    def nearby(self, positive: Bool[Tensor, " channel"]) -> list["Homogeneity"]:
        """Return those that differ in the degree of one channel; only positive channels can be media."""
        changed = _nearby(tuple(self.degrees.tolist()), positive.tolist())
        return [self._with(degrees) for degrees in changed if any(degrees)]

    def _with(self, degrees: Degrees) -> "Homogeneity":
        other = Homogeneity(len(degrees))
        other.units, other.degrees = self.units, torch.tensor(degrees, device=self.degrees.device)
        return other

    @property
    def is_any(self) -> bool:
        """Whether there is any amplitude to take out."""
        return bool(self.degrees.any())

    def taken_out(
        self, values: Float[Tensor, "point channel"]
    ) -> tuple[Float[Tensor, "point channel"], Float[Tensor, ""]]:
        """Return the values of one sample without their amplitudes, and by what its solution is to be multiplied."""
        (found,), factors = self._taken_out_of_each([values])
        return found, factors[0]

    def _taken_out_of_each(
        self, samples: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple[list[Float[Tensor, "_ channel"]], Float[Tensor, " sample"]]:
        media = self.degrees == -1
        bad = (torch.cat(list(samples)) <= 0.0) & media
        if not bad.is_meta and bool(bad.any()):
            numbers = ", ".join(str(channel + 1) for channel in bad.any(dim=0).nonzero().flatten().tolist())
            raise ValueError(
                f"This operator divides by its input channel {numbers}, which was positive in all training samples;"
                " give it positive values there, or fit it to samples that are not."
            )
        of_sources, of_media = self._amplitudes(samples)
        divisors = torch.where(media, of_media[:, None], 1.0)
        divisors = torch.where(self.degrees == 1, of_sources[:, None], divisors)
        found = [(values / divisor).to(values) for values, divisor in zip(samples, divisors, strict=True)]
        return found, of_sources / of_media

    def _amplitudes(
        self, samples: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple[Float[Tensor, " sample"], Float[Tensor, " sample"]]:
        """Return those of the sources and of the media of each sample; 1 for nothing."""
        sources, media = self.degrees == 1, self.degrees == -1
        squares = _mean_squares(samples) / self.units.square()
        logarithms = torch.where(media, torch.cat(list(samples)).double(), 1.0).log()
        parts = logarithms.split([len(values) for values in samples])
        means = torch.stack([part.mean(dim=0).sum() for part in parts]) / media.sum().clamp(min=1)
        return _source(squares, sources), means.exp()

    def of_cloud(self, cloud: Cloud) -> tuple[Cloud, Float[Tensor, " sample"]]:
        """Return a cloud without amplitudes, and by what the solution of each sample is to be multiplied."""
        if not cloud.values.is_meta and not self.is_any:
            return cloud, cloud.values.new_ones(cloud.num_samples, dtype=torch.float64)
        found, factors = self._taken_out_of_each(torch.split(cloud.values, cloud.sizes))
        return replace(cloud, values=torch.cat(found)), factors


def _descended(degrees: Degrees, cost: Callable[[Degrees], float], is_positive: Sequence[bool]) -> Degrees:
    """Change one degree after the other as long as it pays."""
    while True:
        best = min(_nearby(degrees, is_positive), key=cost)
        if not cost(best) < cost(degrees):
            return degrees
        degrees = best


def _nearby(degrees: Degrees, is_positive: Sequence[bool]) -> list[Degrees]:
    """Return all changes of one degree."""
    return [
        (*degrees[:channel], degree, *degrees[channel + 1 :])
        for channel, positive in enumerate(is_positive)
        for degree in ((-1, 0, 1) if positive else (0, 1))
        if degree != degrees[channel]
    ]


def _source(squares: Float[Tensor, "sample channel"], sources: Bool[Tensor, " channel"]) -> Float[Tensor, " sample"]:
    """Return the root mean square over the sources; 1 for nothing."""
    return _positive(torch.where(sources, squares, 0.0).sum(dim=1) / sources.sum().clamp(min=1)).sqrt()


def _heights(targets: Sequence[Float[Tensor, "_ channel"]]) -> Float[Tensor, " sample"]:
    """Return the logarithm of how large the solution of each sample is, each channel in its unit."""
    sizes = _mean_squares(targets)
    return 0.5 * _positive((sizes / _positive(sizes.mean(dim=0))).mean(dim=1)).log()


def _mean_squares(values: Sequence[Float[Tensor, "_ channel"]]) -> Float[Tensor, "sample channel"]:
    return torch.stack([one.double().square().mean(dim=0) for one in values])


def _positive(values: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Put 1 in place of 0."""
    return torch.where(values > 0.0, values, 1.0)
