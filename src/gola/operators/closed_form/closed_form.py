"""What all closed-form operators share: fitted at once to all samples, and honest about each of them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from gola.metrics import relative_l2_errors
from gola.operators.closed_form.refinement import between_points, is_limiting, refined
from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.closed_form.scores import error_at_the_data
from gola.operators.cloud import Cloud
from gola.operators.operator import FitResult, HeldOut, Operator, OperatorConfig
from gola.operators.queries import Queries
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.representation.fitted import Fitted, as_bytes, from_bytes
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import NodalSpace
from gola.representation.periodic_grid import PeriodicGrid
from gola.representation.shared_points import runs
from gola.representation.smoothness import with_chosen_penalties
from gola.threads import one_thread

# Of a function that is known at N points more than 2N coefficients add nothing that a penalty would not set.
_MODES_PER_POINT = 2
# Where functions limit the predictions there are more of them, at most so many.
_MOST_MODES = 3000


@dataclass(frozen=True, kw_only=True)
class ClosedFormConfig(OperatorConfig):
    """Settings of a closed-form operator; everything else is chosen from the training samples.

    Attributes:
        num_modes: The largest number of functions that solutions are expressed in, unless that limits the predictions.
        padding: Size of the box of these functions, in units of the bounding box of the points.
    """

    num_modes: int = 1000
    padding: float = 1.25

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_modes")
        if not self.padding >= 1.0:
            raise ValueError(f"padding must be at least 1, the bounding box itself; got {self.padding}.")


@dataclass(frozen=True, kw_only=True)
class ComparingConfig(ClosedFormConfig):
    """Settings of an operator that compares inputs with those of the training samples.

    Attributes:
        num_input_modes: The largest number of functions that inputs are compared by.
    """

    num_input_modes: int = 400

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_input_modes")


class ClosedForm(Fitted, Operator):
    """An operator that a few matrix decompositions fit to all training samples at once.

    Samples may all have different points: solutions are expressed in one common space of functions, and so is
    whatever the operator compares inputs by. It computes in float64 and answers in the precision of the cloud. Give it
    values in their own units: a normaliser gains nothing here, and would hide that an input is positive.

    Attributes:
        at_nodes: Whether solutions may be expressed by their values, where all samples share their nodes.
        refines: Whether solutions are expressed otherwise where the functions limit the predictions.
        choice: The settings that were chosen, as plain values; saved with the state.
        solutions: The space of the solutions.
        held_out: Coefficients of the leave-one-out prediction of each training sample.
        cv_error: Mean relative L2 error of the leave-one-out predictions at the points of the samples.
        representation_error: The same of the solutions as they are expressed in their space, at points that were held
            out if it may be refined; none where it is exact.
    """

    presets: ClassVar[Mapping[str, ClosedFormConfig]]
    normalised: ClassVar[bool] = False
    holds_out: ClassVar[bool] = True
    at_nodes: ClassVar[bool] = True
    refines: ClassVar[bool] = False
    min_samples: ClassVar[int] = 3

    config: ClosedFormConfig
    choice: dict[str, Any]
    solutions: FunctionSpace | NodalSpace | PeriodicGrid
    held_out: Float[Tensor, "sample mode channel"]
    cv_error: Float[Tensor, ""]
    representation_error: float

    def __init__(self, config: ClosedFormConfig) -> None:
        super().__init__(config)
        self.choice = {}
        self.solutions = FunctionSpace()
        self._register_empty("held_out", "cv_error")
        self.representation_error = 0.0
        self._places: Queries | None = None

    @one_thread()
    def fit(self, task: FitTask) -> FitResult:
        """Fit to the samples of a task, which are predicted by leave-one-out besides."""
        self.require_samples(task)
        scaling = Scaling.fit(task.samples, normalised=self.normalised)
        cloud = scaling.clouds(task.samples, torch.float64)
        targets = torch.cat([scaling.encode(one.targets, torch.float64) for one in task.samples])
        self.fit_cloud(cloud, targets, Mesh.of(task, scaling.frame))
        sizes = cloud.sizes
        del cloud
        predictions = self.leave_one_out()
        errors = relative_l2_errors(predictions, targets, sizes, scaling.targets.scale)
        held_out = [values.numpy() for values in torch.split(predictions, sizes)]
        return FitResult(
            operator=self,
            scaling=scaling,
            held_out=HeldOut(predictions=held_out, method=self.held_out_method),
            scores={"cv_error": float(errors.mean())},
            details={"settings": self.choice, "representation_error": self.representation_error},
        )

    @property
    def held_out_method(self) -> str:
        """How training samples were held out."""
        return "leave-one-out"

    def fit_cloud(self, cloud: Cloud, targets: Float[Tensor, "point channel"], mesh: Mesh | None = None) -> None:
        """Fit to all training samples, and choose all settings by leave-one-out among them.

        Args:
            cloud: The input functions, one sample after the other.
            targets: The solutions at the same points.
            mesh: What is known of the points besides where they are.
        """
        samples = self._training_samples(cloud, targets, mesh or Mesh())
        self.solutions = self._solution_space(samples, self.config.num_modes)
        solutions = self._solutions_of(samples)
        self.representation_error = self._representation_error(samples, solutions)
        held_out = self.choose(samples, solutions)
        error = self._error_of(held_out, samples)
        while (finer := self._finer(samples, error)) is not None:
            before = self.solutions, self.representation_error
            self.solutions, self.representation_error = finer
            held_out = self.choose(samples, self._solutions_of(samples))
            # What is known better between points may be harder to predict: nodes of all samples lie in holes of some.
            if (now := self._error_of(held_out, samples)) > error:
                self.solutions, self.representation_error = before
                held_out = self.choose(samples, self._solutions_of(samples))
                break
            error = now
        self._finish(cloud, samples, held_out)

    def _representation_error(self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]) -> float:
        if self.refines and isinstance(self.solutions, FunctionSpace):
            return between_points(self.solutions, samples)
        return error_at_the_data(self.solutions, solutions, samples)

    def _finer(self, samples: Samples, error: float) -> tuple[FunctionSpace | NodalSpace, float] | None:
        """Return another space and what it leaves, if what solutions are expressed in limits the predictions."""
        if not (self.refines and isinstance(self.solutions, FunctionSpace)):
            return None
        if not is_limiting(self.representation_error, error):
            return None
        return refined(self.solutions, self.representation_error, samples, partial(self._cosines, samples))

    def _error_of(self, coefficients: Float[Tensor, "sample mode channel"], samples: Samples) -> float:
        return error_at_the_data(self.solutions, coefficients, samples)

    def refit(self, cloud: Cloud, targets: Float[Tensor, "point channel"]) -> None:
        """Fit to other samples with the settings chosen by :meth:`fit_cloud`: quick, and no choice looks at them."""
        self._require_fit()
        moves = isinstance(self.solutions, NodalSpace) and bool(self.solutions.moves)
        samples = self._training_samples(cloud, targets, Mesh(moves=moves))
        self._finish(cloud, samples, self.solve(samples, self._solutions_of(samples)))

    @abstractmethod
    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Choose the settings, fit with them, and return the leave-one-out predictions as coefficients."""

    @abstractmethod
    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit with the settings chosen before, and return the leave-one-out predictions as coefficients."""

    @abstractmethod
    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self.predict_at(cloud, Queries(points=cloud.points, offsets=cloud.offsets))

    @one_thread()
    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries."""
        self._require_fit()
        return self._values(self.coefficients(cloud), queries, torch.split(cloud.points, cloud.sizes))

    @one_thread()
    def leave_one_out(self, at: Queries | None = None) -> Float[Tensor, "query channel"]:
        """Predict each training sample by this operator fitted, with the same settings, to all the others.

        Args:
            at: Where to predict, for each training sample; at its own points by default.
        """
        self._require_fit()
        places = self._places if at is None else at
        if places is None:
            raise ValueError(
                f"This {self.title} was loaded, and the training points are not saved with it; say where to predict:"
                " leave_one_out(at=Queries(points, offsets))."
            )
        if len(places.offsets) != len(self.held_out) + 1:
            raise ValueError(
                f"The {self.title} was fitted to {len(self.held_out)} samples and the queries are for"
                f" {len(places.offsets) - 1}; give queries for each training sample."
            )
        return self._values(self.held_out, places, self._nodes_of_training_samples())

    def _nodes_of_training_samples(self) -> Sequence[Float[Tensor, "node dim"] | None]:
        """Return where moved nodes lie in each training sample; None where they are the points that are asked for."""
        return [None] * len(self.held_out)

    def get_extra_state(self) -> Tensor:
        """Return the chosen settings as a tensor, so that they are saved with the state; torch calls this."""
        return as_bytes(self.choice)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over the chosen settings of a saved state; torch calls this."""
        self.choice = from_bytes(state)

    def parameter_counts(self) -> dict[str, int]:
        """Return how many numbers a prediction draws on, by name."""
        records = {"held_out", "cv_error"}
        counts = {name: buffer.numel() for name, buffer in self.named_buffers() if name not in records}
        return {name: count for name, count in counts.items() if count}

    @staticmethod
    def space_for(samples: Samples, num_modes: int, padding: float) -> FunctionSpace:
        """Make a space on the bounding box of all points, with no more functions than the points can tell apart."""
        bound = _MODES_PER_POINT * max(len(points) for points in samples.points)
        ends = torch.cat([torch.stack(points.aminmax(dim=0)) for points in samples.points])
        return FunctionSpace.around(ends, padding=padding, num_modes=min(num_modes, bound))

    def _solution_space(self, samples: Samples, num_modes: int) -> FunctionSpace | NodalSpace | PeriodicGrid:
        """Return the space of the solutions: their own span where all share their points, else cosines on a box."""
        if self.at_nodes and samples.share_nodes:
            nodes, targets = samples.points[0], samples.targets
            return NodalSpace.spanning(nodes, targets, moves=samples.nodes_move, cells=samples.cells)
        return self._cosines(samples, num_modes)

    def _cosines(self, samples: Samples, num_modes: int) -> FunctionSpace:
        space = self.space_for(samples, min(num_modes, max(_MOST_MODES, self.config.num_modes)), self.config.padding)
        return with_chosen_penalties(space, samples.points, samples.targets)

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        # The state says in which space solutions were expressed.
        spaces: dict[str, type[FunctionSpace | NodalSpace | PeriodicGrid]] = {
            "nodes": NodalSpace,
            "shape": PeriodicGrid,
            "penalties": FunctionSpace,
        }
        found = (kind for name, kind in spaces.items() if f"{prefix}solutions.{name}" in state_dict)
        self.solutions = next(found, FunctionSpace)()
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _solutions_of(self, samples: Samples) -> Float[Tensor, "sample mode channel"]:
        return self.solutions.coefficients(samples.points, samples.targets)

    def _finish(self, cloud: Cloud, samples: Samples, held_out: Float[Tensor, "sample mode channel"]) -> None:
        self.held_out = held_out
        self.cv_error = held_out.new_tensor(error_at_the_data(self.solutions, held_out, samples))
        for module in self.modules():
            # In files tensors lie one row after the other, and sums in another order round differently; `contiguous`
            # would keep the strides of a single column.
            for name, buffer in module.named_buffers(recurse=False):
                setattr(module, name, buffer.flatten().view(buffer.shape))
        self._places = Queries(points=cloud.points, offsets=cloud.offsets)

    def _training_samples(self, cloud: Cloud, targets: Float[Tensor, "point channel"], mesh: Mesh) -> Samples:
        seen = self.seen(cloud)
        if targets.shape[1] != self.config.num_outputs:
            raise ValueError(
                f"This {self.title} was made for {self.config.num_outputs} output channels and the targets have"
                f" {targets.shape[1]}; give it such targets, or make one with another config."
            )
        if cloud.num_samples < self.min_samples:
            raise ValueError(
                f"The {self.title} needs at least {self.min_samples} training samples, to leave one out;"
                f" got {cloud.num_samples}."
            )
        return Samples.of(seen, targets, mesh)

    def _values(
        self,
        coefficients: Float[Tensor, "sample mode channel"],
        queries: Queries,
        nodes: Sequence[Float[Tensor, "_ dim"] | None],
    ) -> Float[Tensor, "query channel"]:
        """Evaluate solutions, those that are asked for at the same places together.

        Where nodes move, it takes to know where those of each sample are.
        """
        places, values = torch.split(queries.points, queries.sizes), []
        moves = isinstance(self.solutions, NodalSpace) and bool(self.solutions.moves)
        alike = [slice(row, row + 1) for row in range(len(places))] if moves else runs(places)
        if isinstance(self.solutions, FunctionSpace) and len(alike) == len(places):
            found = self.solutions.values_of_each(queries.points, queries.sizes, coefficients)
            return found.to(queries.points.dtype)
        for rows in alike:
            columns = coefficients[rows].transpose(0, 1).flatten(1)
            found = self.solutions.values(places[rows.start], columns, nodes[rows.start])
            values.append(found.unflatten(1, (rows.stop - rows.start, -1)).transpose(0, 1).flatten(0, 1))
        return torch.cat(values).to(queries.points.dtype)

    def _require_fit(self) -> None:
        if not self.solutions.num_modes:
            raise ValueError(f"This {self.title} is not fitted yet; call fit_cloud(cloud, targets) first.")
