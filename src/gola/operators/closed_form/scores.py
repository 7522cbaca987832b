"""How far predictions are off, measured where the data are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.metrics import relative_l2, size_of
from gola.operators.closed_form.samples import Samples, drawn
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import NodalSpace
from gola.representation.periodic_grid import PeriodicGrid

# Places where settings are compared, and the values there of all channels; with many channels fewer places will do.
_NUM_PROBES, _LEAST_PROBES, _PROBED_VALUES = 256, 64, 512


@dataclass(frozen=True, kw_only=True, eq=False)
class Probes:
    """Some places where the data are, at which many settings can be compared in little time.

    Attributes:
        fractions: The places, as fractions of the bounding box.
        values: The solutions there.
        scales: The unit of each channel.
    """

    fractions: Float[Tensor, "probe dim"]
    values: Float[Tensor, "probe sample channel"]
    scales: Float[Tensor, " channel"]

    @staticmethod
    def of(
        space: FunctionSpace | NodalSpace | PeriodicGrid,
        solutions: Float[Tensor, "sample mode channel"],
        samples: Samples,
    ) -> "Probes":
        """Evaluate solutions at points drawn from those of all samples."""
        if isinstance(space, NodalSpace):
            # Nodes may lie elsewhere in every sample, so they are drawn by their numbers.
            rows = Probes.nodes(space, solutions.shape[2])
            places, functions = space.nodes[rows], space.modes[rows]
        else:
            assert isinstance(space, FunctionSpace), "Grids are compared node by node."
            places = samples.probes(_count(solutions.shape[2]))
            functions = space.functions(places)
        return Probes(
            fractions=space.fractions(places),
            values=torch.einsum("pm,smc->psc", functions, solutions),
            scales=samples.target_scales,
        )

    @staticmethod
    def nodes(space: NodalSpace, num_channels: int = 1) -> Int[Tensor, " probe"]:
        """Return the numbers of the nodes that are the places in a space of nodes."""
        return drawn(len(space.nodes), _count(num_channels))

    def part(self, samples: Sequence[int] | slice, count: int) -> "Probes":
        """Keep some samples, and the first places."""
        values = self.values[:count, samples]
        return Probes(fractions=self.fractions[:count], values=values, scales=self.scales)

    def divided_by(self, factors: Float[Tensor, " sample"]) -> "Probes":
        """Return the solutions without amplitudes that they scale with."""
        return replace(self, values=self.values / factors[:, None])

    def error(self, predictions: Float[Tensor, "probe sample channel"]) -> float:
        """Return the mean over the samples of the relative error of predictions."""
        return float(self.errors(predictions).mean())

    def errors(self, predictions: Float[Tensor, "probe sample channel"]) -> Float[Tensor, " sample"]:
        """Return the relative error of predictions of each sample."""
        found, wanted = (values.transpose(0, 1) / self.scales for values in (predictions, self.values))
        return relative_l2(found, wanted)

    @property
    def rows(self) -> Float[Tensor, "sample output"]:
        """The values, all places and channels of a sample in one row."""
        return self.values.transpose(0, 1).flatten(1)

    @cached_property
    def compressed(self) -> Float[Tensor, "sample column"]:
        """Rows with the same inner products as :attr:`rows` in the unit of each channel, and no more columns than rows.

        Held-out predictions are sums of rows, so :meth:`error_of_compressed` is that of all values.
        """
        rows = (self.values / self.scales).transpose(0, 1).flatten(1)
        return rows if rows.shape[1] <= len(rows) else torch.linalg.qr(rows.T, mode="r").R.T

    def error_of_compressed(self, predictions: Float[Tensor, "sample column"]) -> float:
        """Return the mean relative error of predictions that are sums of rows of :attr:`compressed`."""
        return float(((predictions - self.compressed).norm(dim=1) / self._sizes).mean())

    @cached_property
    def _sizes(self) -> Float[Tensor, " sample"]:
        return size_of(self.values.transpose(0, 1) / self.scales)

    def error_of_rows(self, predictions: Float[Tensor, "sample output"]) -> float:
        """Return the mean relative error of predictions laid out like :attr:`rows`."""
        return float(self.errors_of_rows(predictions).mean())

    def errors_of_rows(self, predictions: Float[Tensor, "sample output"]) -> Float[Tensor, " sample"]:
        """Return the relative error of predictions of each sample, laid out like :attr:`rows`."""
        return self.errors(predictions.unflatten(1, (len(self.values), -1)).transpose(0, 1))


def _count(num_channels: int) -> int:
    """Return how many places are enough."""
    return min(_NUM_PROBES, max(_LEAST_PROBES, _PROBED_VALUES // num_channels))


def error_at_the_data(
    space: FunctionSpace | NodalSpace | PeriodicGrid,
    coefficients: Float[Tensor, "sample mode channel"],
    samples: Samples,
    at_most: int | None = None,
) -> float:
    """Return the mean relative error of functions against the targets, at each sample's own points.

    Args:
        space: The space of the functions.
        coefficients: The function of each sample.
        samples: The samples.
        at_most: Number of points of a sample to look at; all by default.
    """
    return errors_at_the_data(space, coefficients[None], samples, at_most)[0]


def errors_at_the_data(
    space: FunctionSpace | NodalSpace | PeriodicGrid,
    coefficients: Float[Tensor, "try sample mode channel"],
    samples: Samples,
    at_most: int | None = None,
) -> list[float]:
    """Return the same for several tries at once, each with a function of each sample."""
    scales, errors = samples.target_scales, []
    for points, targets, found in zip(samples.points, samples.targets, coefficients.unbind(1), strict=True):
        rows = slice(None) if at_most is None or len(points) <= at_most else drawn(len(points), at_most)
        columns = space.values(points[rows], found.transpose(0, 1).flatten(1))
        values = columns.unflatten(1, (len(found), -1)).transpose(0, 1)
        errors.append(relative_l2(values / scales, (targets[rows] / scales).expand_as(values)))
    return torch.stack(errors).mean(dim=0).tolist()
