"""The common space in which functions known at different points become comparable."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.representation.cholesky import cholesky, cholesky_solve
from gola.representation.cosines import (
    amplitudes,
    combine,
    combine_each,
    combine_on_lattice,
    evaluate,
    gram,
    gram_and_moments,
    gram_of_sums,
    lowest_waves,
    moments,
    moments_on_lattice,
    sums_and_moments,
    sums_and_moments_of_each,
)
from gola.representation.fitted import Fitted
from gola.representation.many_fits import KnownMeans, ManyFits
from gola.representation.shared_points import Recent, runs, together
from gola.threads import spread_over_threads

Item = TypeVar("Item")
Result = TypeVar("Result")

# Points are taken in portions, so that the functions at a million points need not exist at once; what belongs to a
# portion fits into the cache of a core.
_PORTION = 4096
# Functions are evaluated in smaller ones: what is computed along each axis stays in the cache.
_EVALUATED = 4096
# A fit of fewer functions takes less than it takes to hand it to another thread.
_WORTH_A_THREAD = 300
# So many samples at points of their own are worth the inverse of the mean of their matrices.
_MANY = 12


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class MeanPrior:
    """What samples have in common: their means over the bounding box scatter little, or not at all.

    Sources that add up to zero have the same mean in all samples, and so have densities that add up to one. Scattered
    points tell the mean of a rough function badly, and solutions often depend on it most.

    Attributes:
        mean: Mean over the samples.
        variance: Variance over the samples, beyond that by which each is uncertain.
        noise: Variance of the noise in their values, which makes them uncertain.
    """

    mean: Float[Tensor, " channel"]
    variance: Float[Tensor, " channel"]
    noise: Float[Tensor, " channel"]

    @staticmethod
    def free(like: Float[Tensor, " channel"]) -> "MeanPrior":
        """Assume nothing of the means."""
        nothing = torch.zeros_like(like)
        return MeanPrior(mean=nothing, variance=torch.full_like(nothing, torch.inf), noise=nothing)

    @staticmethod
    def of(fits: Sequence["FunctionFit"]) -> "MeanPrior":
        """Learn what the means of samples have in common."""
        means = torch.stack([fit.mean for fit in fits])
        noise = torch.stack([fit.noise for fit in fits]).mean(dim=0)
        uncertain = noise * torch.stack([fit.leverage for fit in fits]).mean()
        variance = (means - means.mean(dim=0)).square().mean(dim=0) - uncertain
        return MeanPrior(mean=means.mean(dim=0), variance=variance.clamp(min=0.0), noise=noise)

    @property
    def firmness(self) -> Float[Tensor, " channel"]:
        """How firmly the mean is known, in units of the noise: its weight in the normal equations."""
        return torch.where(self.noise > 0.0, self.noise / self.variance, 0.0)

    def repeated(self, count: int) -> "MeanPrior":
        """Return the same for the channels of several samples, one after the other."""
        if count == 1:
            return self
        mean, variance, noise = (part.repeat(count) for part in (self.mean, self.variance, self.noise))
        return MeanPrior(mean=mean, variance=variance, noise=noise)


class FunctionSpace(Fitted):
    r"""Sums of cosines on a box around the domain, fitted to scattered values by penalised least squares.

    The values v of a sample at its points become the coefficients

    .. math:: a = \operatorname{argmin}_a \sum_i \Bigl(\sum_k a_k \phi_k(x_i) - v_i\Bigr)^2 + \sum_k \rho_k a_k^2

    after their mean is taken off, which the constant function carries. Penalties ρ that grow with the frequency make
    the fit smooth between the points and beyond them; they do not depend on the number of points, as the variance of
    noise does not. On a box larger than the domain the cosines need not have zero slope at its boundary.

    Attributes:
        lower: Lower corner of the domain's bounding box.
        sides: Sides of the bounding box.
        padding: Size of the box of the cosines, which has the same centre, in units of the bounding box.
        penalties: The penalty ρ of each function.
    """

    lower: Float[Tensor, " dim"]
    sides: Float[Tensor, " dim"]
    padding: Float[Tensor, ""]
    penalties: Float[Tensor, " mode"]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("lower", "sides", "padding", "penalties")
        self._recent: Recent[Tensor] = Recent()
        self._averages: Recent[Tensor] = Recent()

    @staticmethod
    def around(points: Float[Tensor, "point dim"], *, padding: float, num_modes: int) -> "FunctionSpace":
        """Make the space on the bounding box of the points, enlarged about its centre, without penalties yet."""
        space = FunctionSpace()
        space.lower, upper = points.min(dim=0).values.double(), points.max(dim=0).values.double()
        # Points on a plane have no extent across it; any will do there.
        space.sides = torch.where(upper > space.lower, upper - space.lower, 1.0)
        space.padding = space.sides.new_tensor(padding)
        space.penalties = space.sides.new_zeros(num_modes)
        return space

    def with_penalties(self, penalties: Float[Tensor, " mode"]) -> "FunctionSpace":
        """Return this space with other penalties."""
        space = FunctionSpace()
        space.lower, space.sides, space.padding = self.lower, self.sides, self.padding
        space.penalties = penalties
        return space

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return len(self.lower)

    @property
    def num_modes(self) -> int:
        """Number of functions."""
        return len(self.penalties)

    @property
    def waves(self) -> Int[Tensor, "mode dim"]:
        """The wave numbers of each function, on the CPU."""
        return lowest_waves(self.num_modes, self.dim)

    @property
    def frequencies(self) -> Float[Tensor, " mode"]:
        """Angular frequency of each function, where the bounding box counts as a unit cube."""
        lengths = self.waves.double().square().sum(dim=1).sqrt()
        return torch.pi * lengths.to(self.padding.device) / self.padding

    @property
    def averages(self) -> Float[Tensor, " mode"]:
        """The mean of each function over the bounding box."""
        return self._averages.of(self._means_over_the_box, self.padding.view(1, 1), self.penalties)

    def _means_over_the_box(self) -> Float[Tensor, " mode"]:
        waves = self.waves.to(self.padding.device)
        # Angles are affine in the place and π/2 at the centre of the box.
        along = torch.cos(0.5 * torch.pi * waves) * torch.sinc(0.5 * waves / self.padding)
        return (amplitudes(waves) * along).prod(dim=1)

    def fractions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        """Return coordinates in which the bounding box is the unit cube."""
        return (points.double() - self.lower) / self.sides

    def angles(self, fractions: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the angles of the cosines, which cover the padded box with 0 to π."""
        return torch.pi * (0.5 + (fractions - 0.5) / self.padding)

    def functions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point mode"]:
        """Evaluate every function at the points."""
        return evaluate(self._angles_at(points), self.waves)

    def values(
        self,
        points: Float[Tensor, "point dim"],
        coefficients: Float[Tensor, "mode channel"],
        nodes: Float[Tensor, "node dim"] | None = None,  # noqa: ARG002  # spaces of nodes ask for them
    ) -> Float[Tensor, "point channel"]:
        """Evaluate the function with these coefficients."""
        portions, waves = self._angles_at(points).split(_EVALUATED), self.waves
        return torch.cat([combine(angles, waves, coefficients) for angles in portions])

    def values_on_lattice(
        self, fractions: Sequence[Float[Tensor, " _"]], coefficients: Float[Tensor, "mode channel"]
    ) -> Float[Tensor, "node channel"]:
        """Return the same as :meth:`values` at the nodes of a lattice, given as fractions of the box's sides."""
        return combine_on_lattice([self.angles(one) for one in fractions], self.waves, coefficients)

    def through_lattice(
        self, fractions: Sequence[Float[Tensor, " _"]], values: Float[Tensor, "node channel"]
    ) -> Float[Tensor, "mode channel"]:
        """Return the same as :meth:`coefficients` for values at the nodes of a lattice, of one sample."""
        centre = values.mean(dim=0)
        nodes = torch.cartesian_prod(*fractions).view(-1, self.dim)
        factors = self._recent.of(
            lambda: self._factors(gram(self.angles(nodes).split(_PORTION), self.num_modes)), nodes, self.penalties
        )
        angles, ones = [self.angles(one) for one in fractions], torch.ones_like(values[:, :1])
        sums, constant = (moments_on_lattice(angles, self.waves, one) for one in (values, ones))
        found = cholesky_solve(sums - constant * centre, factors)
        return torch.cat([found[:1] + centre, found[1:]])

    def values_of_each(
        self,
        points: Float[Tensor, "point dim"],
        counts: Sequence[int],
        coefficients: Float[Tensor, "sample mode channel"],
    ) -> Float[Tensor, "point channel"]:
        """Evaluate the function of each of several samples, the points of which follow each other."""
        ends = list(accumulate(counts, initial=0))
        parts = []
        for rows in together(counts):
            if rows.stop - rows.start > 1:
                angles = self._angles_at(points[ends[rows.start] : ends[rows.stop]])
                parts.append(combine_each(angles, counts[rows], self.waves, coefficients[rows]))
            else:
                parts.append(self.values(points[ends[rows.start] : ends[rows.stop]], coefficients[rows.start]))
        return torch.cat(parts)

    def coefficients(
        self,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ channel"]],
        means: MeanPrior | None = None,
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit the function of each sample.

        Args:
            points: Of each sample; samples in a row that share their points share most of the work.
            values: At the points.
            means: What is known of the means of the functions.
        """
        alike = runs(points)
        counts = [rows.stop - rows.start for rows in alike]
        places = [points[rows.start] for rows in alike]
        columns = [torch.cat([one.double() for one in values[rows]], dim=1) for rows in alike]
        fitted = self._of_many if self._are_many(places, columns) else self._of_each
        priors = [None if means is None else means.repeated(count) for count in counts]
        found = fitted(places, columns, priors)
        return torch.cat(
            [one.unflatten(1, (count, -1)).transpose(0, 1) for one, count in zip(found, counts, strict=True)]
        )

    def _of_each(
        self,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ _"]],
        means: Sequence[MeanPrior | None],
    ) -> Sequence[Float[Tensor, "mode _"]]:
        """Return the coefficients for points that differ, with a factor for each."""

        def fitted(row: int) -> Float[Tensor, "mode _"]:
            return self._fit(points[row], values[row]).with_mean(means[row])

        return self._each(fitted, range(len(points)))

    def _are_many(self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ _"]]) -> bool:
        """Whether samples at points of their own may be worth solving for together."""
        is_large = len(points) >= _MANY and self.num_modes >= _WORTH_A_THREAD and self.dim > 1
        if not is_large or torch.compiler.is_compiling() or self.penalties.device.type != "cpu":
            return False
        has_gradient = any(one.requires_grad for one in [*points, *values])
        return not has_gradient and all(one.shape[1] == values[0].shape[1] for one in values)

    def _of_many(
        self,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ _"]],
        means: Sequence[MeanPrior | None],
    ) -> Sequence[Float[Tensor, "mode _"]]:
        """Return the same as :meth:`_of_each`, without a factor for each where that is quicker."""
        centres = [one.mean(dim=0) for one in values]

        def summed(rows: slice) -> tuple[Float[Tensor, "some_sample *wave"], Float[Tensor, "some_sample mode _"]]:
            centred = [own - centre for own, centre in zip(values[rows], centres[rows], strict=True)]
            return self._sums_and_moments_of_each(points[rows], centred)

        def factorised(row: int) -> Float[Tensor, "mode _"]:
            factors = self._factors(gram_of_sums(sums[row], self.num_modes))
            return self._solved(factors, right[row], values[row] - centres[row], centres[row]).with_mean(means[row])

        groups = together([len(one) for one in points])
        sums, right = (torch.cat(parts) for parts in zip(*self._each(summed, groups), strict=True))
        prior = MeanPrior.free(centres[0]) if means[0] is None else means[0]
        known = KnownMeans(averages=self.averages, firmness=prior.firmness, values=prior.mean - torch.stack(centres))
        found = ManyFits(sums=sums, right=right.mT, penalties=self.penalties, known=known).solutions()
        if found is None:
            return self._each(factorised, range(len(points)))
        found[..., 0] += torch.stack(centres)
        return found.mT.unbind()

    def _sums_and_moments_of_each(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple[Float[Tensor, "sample *wave"], Float[Tensor, "sample mode channel"]]:
        if len(points) > 1:
            angles, counts = self._angles_at(torch.cat(list(points))), [len(one) for one in points]
            return sums_and_moments_of_each(angles, torch.cat(list(values)), counts, self.num_modes)
        sums, totals = sums_and_moments(self._portions(points[0], values[0]), self.num_modes)
        return sums[None], totals[None]

    def _portions(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> Iterator[tuple[Float[Tensor, "_ dim"], Float[Tensor, "_ channel"]]]:
        """Yield the angles of the points with their values, in portions that fit into memory."""
        return zip(self._angles_at(points).split(_PORTION), values.split(_PORTION), strict=True)

    def _each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Call a function that fits for each item, on several threads where that takes milliseconds."""
        # What is traced must stay on the thread that traces it.
        if self.num_modes < _WORTH_A_THREAD or torch.compiler.is_compiling():
            return [function(item) for item in items]
        return spread_over_threads(function, items)

    def moments(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "mode channel"]:
        """Return the sums over the points of function times value."""
        portions = self._portions(points, values)
        return torch.stack([moments(angles, self.waves, parts) for angles, parts in portions]).sum(dim=0)

    def gram(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "mode mode"]:
        """Return the sums over the points of the products of all pairs of functions."""
        return gram(self._angles_at(points).split(_PORTION), self.num_modes)

    def _angles_at(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        return self.angles(self.fractions(points))

    def _factors_and_moments(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> tuple[Float[Tensor, "mode mode"], Float[Tensor, "mode channel"]]:
        """Return the factors of the normal equations, and their right sides."""
        known = self._recent.known(points, self.penalties, self.lower)
        if known is not None:
            return known, self.moments(points, values)
        matrix, sums = gram_and_moments(self._portions(points, values), self.num_modes)
        return self._recent.keep(self._factors(matrix), points, self.penalties, self.lower), sums

    def _factors(self, gram: Float[Tensor, "mode mode"]) -> Float[Tensor, "mode mode"]:
        gram.diagonal().add_(self.penalties)
        return cholesky(gram)

    def fits(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> list["FunctionFit"]:
        """Fit the function of each sample; samples in a row that share their points share most of the work."""

        def fitted(rows: slice) -> list[FunctionFit]:
            return [self._fit(*one) for one in zip(points[rows], (own.double() for own in values[rows]), strict=True)]

        return [fit for fits in self._each(fitted, runs(points)) for fit in fits]

    def _fit(self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]) -> "FunctionFit":
        centre = values.mean(dim=0)
        factors, sums = self._factors_and_moments(points, values - centre)
        return self._solved(factors, sums, values - centre, centre)

    def _solved(
        self,
        factors: Float[Tensor, "mode mode"],
        sums: Float[Tensor, "mode channel"],
        centred: Float[Tensor, "point channel"],
        centre: Float[Tensor, " channel"],
    ) -> "FunctionFit":
        # How much a unit of the mean pulls at each coefficient is one more column: the factors are read once.
        solved = cholesky_solve(torch.cat([sums, self.averages[:, None]], dim=1), factors)
        solution, pulls = solved[:, :-1], solved[:, -1]
        # The likeliest variance of noise, where penalties are its ratios to the variances of coefficients.
        noise = (centred.square().sum(dim=0) - (sums * solution).sum(dim=0)).clamp(min=0.0) / len(centred)
        # The constant carries the mean; it is added out of place, for derivatives.
        coefficients = torch.cat([solution[:1] + centre, solution[1:]])
        return FunctionFit(coefficients=coefficients, averages=self.averages, pulls=pulls, noise=noise)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FunctionFit:
    """The function of one sample.

    Attributes:
        coefficients: Its coefficients.
        averages: The mean of each function of the space over the bounding box.
        pulls: Covariances of the coefficients with the mean, in units of the noise.
        noise: The variance of the noise.
    """

    coefficients: Float[Tensor, "mode channel"]
    averages: Float[Tensor, " mode"]
    pulls: Float[Tensor, " mode"]
    noise: Float[Tensor, " channel"]

    @property
    def mean(self) -> Float[Tensor, " channel"]:
        """The mean over the bounding box."""
        return self.averages @ self.coefficients

    @property
    def leverage(self) -> Float[Tensor, ""]:
        """The variance of the mean, in units of the noise."""
        return self.averages @ self.pulls

    def with_mean(self, prior: MeanPrior | None) -> Float[Tensor, "mode channel"]:
        """Return the coefficients given what is known of the mean: the function moves where it is uncertain."""
        if prior is None:
            return self.coefficients
        uncertain = prior.noise * self.leverage
        total = prior.variance + uncertain
        doubt = torch.where(total > 0.0, uncertain / total, 0.0)
        return self.coefficients + self.pulls[:, None] / self.leverage * doubt * (prior.mean - self.mean)
