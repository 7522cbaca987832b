"""Copies of training samples under symmetries of the operator, as rows of a regression."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from gola.data.mirror import Components
from gola.geometry.interpolation import interpolation_weights
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group
from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.closed_form.input_kernel import InputKernel, best_kernel, kernels_near
from gola.operators.closed_form.preprocessing import Transform, transformed
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.samples import Samples, drawn
from gola.operators.closed_form.scores import Probes
from gola.operators.symmetry_test import not_refuted
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import NodalSpace
from gola.representation.representatives import spread
from gola.representation.symmetry import composed

# Points and samples by which a domain is compared with its images, at most.
_COMPARED_POINTS = 2000
_COMPARED_SAMPLES = 30
# Samples whose copies are predicted to test a symmetry, at most.
_TESTED_SAMPLES = 32
# Samples with their copies, at most: time grows with the cube of this.
_MOST_COPIES = 800


@dataclass(frozen=True, kw_only=True)
class Channels:
    """How the channels of samples turn with the axes.

    Attributes:
        inputs: Components of vectors and tensors among the input channels, parameters included.
        targets: The same among the target channels.
    """

    inputs: Components
    targets: Components

    @staticmethod
    def scalars(num_inputs: int, num_targets: int) -> "Channels":
        """Return channels that do not turn."""
        inputs, targets = (Components((("", ()),) * count) for count in (num_inputs, num_targets))
        return Channels(inputs=inputs, targets=targets)

    def allow(self, symmetry: Symmetry) -> bool:
        """Whether all components are there that a symmetry turns into each other."""
        return self.inputs.allow(symmetry) and self.targets.allow(symmetry)


@dataclass(frozen=True, kw_only=True, eq=False)
class Copy:
    """All samples under one symmetry.

    The sign of the inputs changes those channels that are not positive: a source may be reversed, a medium may not.

    Attributes:
        symmetry: The symmetry.
        inputs: What values of the inputs are multiplied by.
        targets: What values of the solutions are multiplied by.
    """

    symmetry: Symmetry
    inputs: Float[Tensor, "input_channel input_channel"]
    targets: Float[Tensor, "channel channel"]

    @staticmethod
    def of(symmetry: Symmetry, channels: Channels, positive: Bool[Tensor, " input_channel"]) -> "Copy":
        """Prepare the copies by a symmetry."""
        turns = [
            torch.from_numpy(components.turned(np.eye(len(components.names)), symmetry))
            for components in (channels.inputs, channels.targets)
        ]
        signs = torch.where(positive.cpu(), 1.0, float(symmetry.input_sign)).double()
        return Copy(symmetry=symmetry, inputs=turns[0] * signs, targets=turns[1] * symmetry.output_sign)

    def keeps(self, positive: Bool[Tensor, " input_channel"]) -> bool:
        """Whether channels that are positive in samples are positive in copies."""
        sources = (self.inputs * positive.to(self.inputs)[:, None]).sum(dim=0)
        return bool((sources[positive.cpu()] == 1.0).all())

    def of_functions(
        self, space: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "sample channel mode"]:
        """Return the coefficients of functions whose channels have turned already, moved by the symmetry."""
        return composed(self.symmetry.inverse, space, coefficients)


def copied_solutions(
    space: FunctionSpace | NodalSpace,
    solutions: Float[Tensor, "sample mode channel"],
    copy: Copy,
    nodes: Int[Tensor, " node"] | None = None,
) -> Float[Tensor, "sample row channel"]:
    """Return copies of solutions: their coefficients or, in a space of nodes, their values at the nodes.

    Args:
        space: The space of the solutions.
        solutions: Coefficients of the solutions.
        copy: The symmetry.
        nodes: Numbers of the nodes at which copies are wanted; at all of them by default.
    """
    if isinstance(space, FunctionSpace):
        return copy.of_functions(space, solutions.mT).mT @ copy.targets
    known = space.nodes.cpu().numpy()
    images = copy.symmetry.images_in_box(known, known.min(axis=0), np.ptp(known, axis=0))
    wanted = known if nodes is None else known[nodes.cpu().numpy()]
    rows, weights = (torch.from_numpy(one) for one in interpolation_weights(images, wanted))
    # One node after the other: all that are read at once would be many times as large as the result.
    turned = solutions @ copy.targets
    parts = (
        torch.einsum("nm,smc->snc", share[:, None] * space.modes[read], turned)
        for share, read in zip(weights.unbind(1), rows.unbind(1), strict=True)
        if bool(share.any())
    )
    return sum(parts, start=solutions.new_zeros(len(solutions), len(wanted), solutions.shape[2]))


@dataclass(frozen=True, kw_only=True, eq=False)
class CopiedSamples:
    """Training samples and their copies, seen in one way.

    Attributes:
        samples: The samples.
        space: The space of their solutions.
        solutions: Coefficients of the solutions.
        inputs: How input functions become features.
        homogeneity: Amplitudes that are taken out first.
        transform: What is done to positive channels then.
        positive: Which channels those are.
        channels: How channels turn.
    """

    samples: Samples
    space: FunctionSpace | NodalSpace
    solutions: Float[Tensor, "sample mode channel"]
    inputs: InputFeatures
    homogeneity: Homogeneity
    transform: Transform
    positive: Bool[Tensor, " input_channel"]
    channels: Channels
    # Features of samples whose channels have turned: few symmetries turn them differently.
    _known: dict[bytes, tuple[Tensor, Tensor]] = field(default_factory=dict, init=False)

    def copy_by(self, symmetry: Symmetry) -> Copy:
        """Return the copies of all samples by a symmetry."""
        return Copy.of(symmetry, self.channels, self.positive)

    def groups(self, copies: Sequence[Copy]) -> Int[Tensor, "sample copy"] | None:
        """Return for each sample the rows of its copies, which are held out together; None where there are none."""
        count = 1 + len(copies)
        return None if count == 1 else torch.arange(count * len(self.samples)).view(count, -1).T

    def features(
        self, copies: Sequence[Copy]
    ) -> tuple[Float[Tensor, "row input_channel input_mode"], Float[Tensor, " row"]]:
        """Return the features of the samples and of one copy after the other, and what their solutions scale with."""
        self._see(copies)
        pairs = [self._known[_key(self._unturned)], *(self._copy(copy) for copy in copies)]
        return torch.cat([features for features, _ in pairs]), torch.cat([factors for _, factors in pairs])

    def _copy(self, copy: Copy) -> tuple[Float[Tensor, "row input_channel input_mode"], Float[Tensor, " row"]]:
        """Return the features of a copy that was seen."""
        features, factors = self._known[_key(copy.inputs)]
        return copy.of_functions(self.inputs.space, features), factors

    @property
    def _unturned(self) -> Float[Tensor, "input_channel input_channel"]:
        return torch.eye(len(self.positive), dtype=torch.float64)

    def _see(self, copies: Sequence[Copy]) -> None:
        """Find the features of all samples as they are and with channels that turned, at the points where they were.

        They are fitted together: what that takes depends on the points most of all.
        """
        turns = {_key(turn): turn for turn in (self._unturned, *(copy.inputs for copy in copies))}
        unknown = {key: turn for key, turn in turns.items() if key not in self._known}
        if not unknown:
            return
        seen, factors = zip(*[self._turned(turn) for turn in unknown.values()], strict=True)
        points = [points for points in self.samples.points for _ in unknown]
        features = self.inputs.of(points, [values for sample in zip(*seen, strict=True) for values in sample])
        by_turn = features.unflatten(0, (-1, len(unknown))).unbind(1)
        self._known.update(zip(unknown, zip(by_turn, factors, strict=True), strict=True))

    def _turned(
        self, turn: Float[Tensor, "input_channel input_channel"]
    ) -> tuple[list[Float[Tensor, "_ input_channel"]], Float[Tensor, " row"]]:
        """Return the inputs with turned channels as they are seen, and what their solutions scale with."""
        turned = [values @ turn.to(values) for values in self.samples.inputs]
        values, factors = without_amplitudes(turned, self.homogeneity)
        return [transformed(one, self.positive, self.transform) for one in values], factors

    def solutions_with(
        self, copies: Sequence[Copy]
    ) -> tuple[FunctionSpace | NodalSpace, Float[Tensor, "row mode channel"]]:
        """Return a space that holds the solutions and their copies, and the coefficients of all of them there."""
        copied = [copied_solutions(self.space, self.solutions, copy) for copy in copies]
        if isinstance(self.space, FunctionSpace) or not copies:
            return self.space, torch.cat([self.solutions, *copied])
        values = torch.cat([torch.einsum("nm,smc->snc", self.space.modes, self.solutions), *copied])
        cells = self.space.cells if self.space.cells.numel() else None
        gathering = self.space.gathering
        joined = NodalSpace.spanning(self.space.nodes, list(values), cells=cells, gathering=gathering)
        return joined, torch.einsum("nm,snc->smc", joined.modes, values)

    def probes(self, copies: Sequence[Copy]) -> Probes:
        """Return the solutions and their copies at some places."""
        known = Probes.of(self.space, self.solutions, self.samples)
        return replace(known, values=torch.cat([known.values, *(self._probed(copy) for copy in copies)], dim=1))

    def _probed(
        self, copy: Copy, rows: Sequence[int] | slice = slice(None)
    ) -> Float[Tensor, "probe some_sample channel"]:
        if isinstance(self.space, FunctionSpace):
            return Probes.of(self.space, copied_solutions(self.space, self.solutions[rows], copy), self.samples).values
        nodes = Probes.nodes(self.space, self.solutions.shape[2])
        return copied_solutions(self.space, self.solutions[rows], copy, nodes).transpose(0, 1)

    def homogeneities(self, copies: Sequence[Copy]) -> list[Homogeneity]:
        """Return the amplitudes that hold for the samples, and those suspected of samples and copies, if others."""
        values = [one @ copy.inputs.to(one) for copy in copies for one in self.samples.inputs]
        targets = [one @ copy.targets.to(one) for copy in copies for one in self.samples.targets]
        suspected = Homogeneity.suspected([*self.samples.inputs, *values], [*self.samples.targets, *targets])
        is_same = torch.equal(suspected.degrees, self.homogeneity.degrees)
        # Copies are no more evidence than the samples themselves.
        is_true = suspected.is_supported(self.samples.inputs, self.samples.targets)
        return [self.homogeneity, suspected] if is_true and not is_same else [self.homogeneity]

    def under(self, homogeneity: Homogeneity) -> "CopiedSamples":
        """Return the samples with other amplitudes taken out, or these."""
        return self if homogeneity is self.homogeneity else replace(self, homogeneity=homogeneity)

    def best_kernel(self, near: InputKernel, copies: Sequence[Copy], probes: Probes) -> tuple[float, InputKernel]:
        """Return the best kernel near another one on samples and copies, after its leave-one-out error.

        Args:
            near: The other kernel.
            copies: The copies.
            probes: The solutions and their copies at some places.
        """
        features, factors = self.features(copies)
        return best_kernel(kernels_near(near), self.inputs, features, probes.divided_by(factors), self.groups(copies))

    def symmetries(self, kernel: InputKernel) -> tuple[Symmetry, ...]:
        """Return a group of symmetries, without the identity, that a kernel fitted without copies does not refute."""
        copies = {symmetry: self.copy_by(symmetry) for symmetry in self._candidates()}
        self._see([*copies.values()])
        features, factors = self.features([])
        probes = self.probes([]).divided_by(factors)
        weighted = kernel.weighted(self.inputs, features)
        centre = weighted.mean(dim=0)
        known = weighted - centre
        fit = fit_ridge(kernel(known, known), probes.rows, kernel.penalty)
        rows = spread(len(self.samples), at_most=_TESTED_SAMPLES)
        errors = {}
        for symmetry, copy in copies.items():
            seen, sizes = self._copy(copy)
            copied = kernel.weighted(self.inputs, seen[rows]) - centre
            predicted = kernel(copied, known) @ fit.dual + fit.free
            truth = replace(probes, values=self._probed(copy, rows) / sizes[rows, None])
            errors[symmetry] = truth.errors_of_rows(predicted).cpu().numpy()
        held_out = probes.errors_of_rows(fit.held_out)[rows].cpu().numpy()
        accepted = not_refuted(errors, held_out) if errors else []
        at_most = max(1, _MOST_COPIES // len(self.samples))
        return largest_group(accepted, self.inputs.space.dim, at_most)[1:]

    def _candidates(self) -> list[Symmetry]:
        """Return symmetries of the domain that the channels allow, with all signs of inputs and solutions."""
        dim = self.inputs.space.dim
        some = [self.samples.points[row] for row in spread(len(self.samples), at_most=_COMPARED_SAMPLES)]
        points = [one[drawn(len(one), _COMPARED_POINTS)].cpu().numpy() for one in some]
        moves = [Symmetry.identity(dim), *domain_symmetries(points, has_time_axis=self.samples.has_time_axis)]
        # What is positive cannot be reversed, and the solution of no other input has another sign.
        signs = [(1, 1)] if bool(self.positive.all()) else [(1, 1), (-1, -1), (-1, 1), (1, -1)]
        found = [
            replace(move, input_sign=input_sign, output_sign=output_sign)
            for move in moves
            if self.channels.allow(move)
            for input_sign, output_sign in signs
        ]
        return [symmetry for symmetry in found[1:] if self.copy_by(symmetry).keeps(self.positive)]


def _key(turn: Float[Tensor, "input_channel input_channel"]) -> bytes:
    return turn.numpy().tobytes()


def without_amplitudes(
    inputs: Sequence[Float[Tensor, "_ channel"]], homogeneity: Homogeneity
) -> tuple[list[Float[Tensor, "_ channel"]], Float[Tensor, " sample"]]:
    """Return the inputs without amplitudes, and by what solutions were divided."""
    pairs = [homogeneity.taken_out(values) for values in inputs]
    return [values for values, _ in pairs], torch.stack([factor for _, factor in pairs])
