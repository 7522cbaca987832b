"""Steps that refine a linear map: each proposes other maps, and all are judged alike, on held-out samples.

``docs/linear.md`` shows the order in a flow chart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, final, runtime_checkable

from gola.operators.closed_form.input_features import FittedInputs
from gola.operators.linear.candidate import Candidate, LinearTask
from gola.operators.linear.diffusion import Diffusion
from gola.operators.linear.reciprocity import Reciprocity
from gola.operators.linear.search import SymmetryTest
from gola.operators.symmetry_test import TOLERANCE
from gola.representation.symmetry import Symmetries

# A proposal has to have this share of the error or less: what differs by less differs by chance.
CLEARLY_BETTER = 0.97


@runtime_checkable
class Step(Protocol):
    """A way to refine a map."""

    name: str
    """What users switch it by."""

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose maps that may be better than the best one so far; none where the step does not apply."""
        ...


def refined(candidate: Candidate, steps: Sequence[Step], task: LinearTask) -> Candidate:
    """Take the steps one after the other, and keep of each the best proposal that is clearly better."""
    for step in steps:
        for proposal in step.proposals(candidate, task):
            if proposal.error < CLEARLY_BETTER * candidate.error:
                candidate = proposal
    return candidate


@final
class GreensFunction:
    """Green's function is smooth, and larger near the point of the solution: see :mod:`.green`."""

    name = "green"

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose a map under a prior on Green's function, unless its matrix is too large to be stored."""
        if task.has_room_for(best.near):
            yield task.green(best.near, best.wide, best.symmetries)


@final
class FreeMean:
    """Inputs are fitted with what the samples have in common in their means, unless it is clearly better without.

    The other steps need the better fit to show what they are worth, so this one looks whether to do without it.
    """

    name = "mean"

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose a map of inputs whose means are fitted freely, where that makes a difference."""
        near, wide = best.near.with_free_mean(), best.wide.with_free_mean()
        if (wide if best.is_wide else near).differs_from(best.read) and task.is_promising(best, near):
            yield task.refitted(best, near, wide)


@final
class FreeEnds:
    """Inputs that repeat along an axis are continued by their own values, unless it is clearly better without."""

    name = "periodicity"

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose a map of inputs that are fitted as if they did not repeat, where they seem to."""
        near, wide = best.near.with_free_ends(), best.wide.with_free_ends()
        if (best.near.is_periodic or best.wide.is_periodic) and task.is_promising(best, near):
            yield task.refitted(best, near, wide)


@final
class Augmentation:
    """Samples are augmented by symmetries of the map.

    From few samples a map shows some of its symmetries only, or shows them faintly. Learned from copies by these it is
    better, and may show the others: so it looks twice, with a looser tolerance the second time.
    """

    name = "symmetries"
    tolerances = (TOLERANCE, 2.5)

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose maps that are chosen and fitted again with augmented samples."""
        largest, tested = len(best.symmetries), self._tested(best, task)
        for tolerance in self.tolerances:
            symmetries = tested.accepted(tolerance)
            if len(symmetries) > largest:
                largest = len(symmetries)
                tried = [prior(best.near, best.wide, symmetries) for prior in task.promising_priors(best)]
                proposal = min(tried, key=lambda candidate: candidate.error)
                yield proposal
                if proposal.error < CLEARLY_BETTER * best.error and tolerance != self.tolerances[-1]:
                    best, tested = proposal, self._tested(proposal, task)

    @staticmethod
    def _tested(best: Candidate, task: LinearTask) -> SymmetryTest:
        read = best.read
        return SymmetryTest.of(read.inputs.space, read.features, task.outputs, best.found, task.samples)


@final
class SelfAdjointness:
    """Where the map is its own adjoint, training pairs give integrals of other solutions: see :class:`Reciprocity`."""

    name = "reciprocity"
    # How far to distrust these integrals, in units of how far pairs disagree: for samples that were not seen they are
    # less accurate than for training samples.
    noises = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose the map conditioned on the integrals, with the noise that is best."""
        pairs = Reciprocity.found(best.read.inputs, best.read.features, task.outputs, task.solutions)
        if pairs is not None and task.has_room_for(best.read):
            maps = pairs.conditioned(best.found, self.noises)
            errors = task.errors_of(maps)
            place = min(range(len(maps)), key=errors.__getitem__)
            yield replace(best, error=errors[place], found=maps[place], noise=self.noises[place])


@final
class Medium:
    """Where solutions are steady states of a diffusion, its medium gives the map: see :class:`Diffusion`."""

    name = "diffusion"

    def proposals(self, best: Candidate, task: LinearTask) -> Iterator[Candidate]:
        """Propose the map of the medium that explains the samples, if it explains them well."""
        if best.near.features.shape[1] > 1 or task.solutions.shape[2] > 1:
            return
        for near in self._readings(best, task):
            diffusion = Diffusion(
                inputs=near.inputs.space,
                features=near.features,
                outputs=task.outputs,
                solutions=task.solutions,
                samples=task.samples,
            )
            # A medium that explains the samples worse than they are predicted anyway need not be tried on others.
            if diffusion.explains(best.error):
                none = Symmetries.none(task.outputs.dim)
                plain = replace(best, near=near, is_wide=False, prior=None, symmetries=none, noise=None)
                found = diffusion.map()
                yield replace(plain, error=task.error_of(found), found=found)

    @staticmethod
    def _readings(best: Candidate, task: LinearTask) -> list[FittedInputs]:
        """Return the inputs as they are seen, and with free means if that looks better, though not clearly so.

        A medium depends on the means more than a prior does.
        """
        free = best.near.with_free_mean()
        return [best.near, free] if free.differs_from(best.near) and task.is_promising(best, free) else [best.near]


STEPS: tuple[Step, ...] = (
    GreensFunction(),
    FreeMean(),
    FreeEnds(),
    Augmentation(),
    SelfAdjointness(),
    Medium(),
)
"""In the order in which they are taken."""
