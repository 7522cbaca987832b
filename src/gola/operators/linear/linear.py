"""The linear operator: ridge regression under a prior that knows how Green's functions look."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.geometry.symmetry import Symmetry
from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.input_features import FittedInputs, InputFeatures
from gola.operators.closed_form.samples import Samples
from gola.operators.cloud import Cloud
from gola.operators.linear.candidate import Candidate, LinearTask
from gola.operators.linear.diffusion import NUM_FOLDS, Diffusion
from gola.operators.linear.green import MOST_WAVES, Component
from gola.operators.linear.linear_map import Affine, GreenPrior, LinearMap, SpectralPrior
from gola.operators.linear.reciprocity import Reciprocity
from gola.operators.linear.steps import STEPS, refined
from gola.operators.operator import OperatorConfig
from gola.protocol import FitTask
from gola.registry import unknown
from gola.representation.function_space import FunctionSpace
from gola.representation.symmetry import Symmetries, with_whole_shells


@final
@dataclass(frozen=True, kw_only=True)
class LinearConfig(ClosedFormConfig):
    """Settings of the linear operator.

    Attributes:
        wide_padding: Size of the box in which inputs are continued beyond the domain, in units of the bounding box.
        num_wide_modes: The largest number of functions that inputs are expressed in there.
        steps: Names of the steps that refine the map, each kept only where it pays on held-out samples:
            ``green``, ``mean``, ``periodicity``, ``symmetries``, ``reciprocity``, ``diffusion``.
    """

    wide_padding: float = 3.0
    num_wide_modes: int = 600
    steps: tuple[str, ...] = tuple(step.name for step in STEPS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_wide_modes")
        known = [step.name for step in STEPS]
        for name in self.steps:
            if name not in known:
                raise ValueError(unknown("step of the linear operator", name, known))
        if not self.wide_padding >= 1.0:
            raise ValueError(f"wide_padding must be at least 1, the bounding box itself; got {self.wide_padding}.")


@final
class Linear(ClosedForm):
    r"""Linear operator: ridge regression with a smoothness prior, chosen by leave-one-out.

    .. math:: u(x) = \int G(x, y) f(y)\, dy + c(x)

    No prior holds c back. It starts with a prior that weighs inputs by frequency (:class:`SpectralPrior`), and takes
    steps from there, each of which proposes another map and is kept if held-out samples are clearly better predicted:
    see :mod:`gola.operators.linear.steps`. Held-out predictions are exact leave-one-out, except where the medium of a
    diffusion was found: then samples are held out in fifths.
    """

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "linear operator"
    at_nodes: ClassVar[bool] = False  # its priors are on functions of a box
    config_type: ClassVar[type[OperatorConfig]] = LinearConfig
    presets: ClassVar[dict[str, LinearConfig]] = {"default": LinearConfig()}

    config: LinearConfig
    solutions: FunctionSpace
    inputs: InputFeatures
    weights: Float[Tensor, "mode channel column"]
    rows: Float[Tensor, "column feature"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, config: LinearConfig) -> None:
        super().__init__(config)
        self.inputs = InputFeatures()
        self._register_empty("weights", "rows", "offset")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there are input functions: numbers alone are better compared as numbers."""
        return task.num_fields > 0

    @property
    def prior(self) -> GreenPrior | SpectralPrior | None:
        """The prior that was chosen; None where the map is that of a diffusion."""
        self._require_fit()
        if self.choice.get("diffusion"):
            return None
        settings = {name: value for name, value in self.choice.items() if name not in ("symmetries", "reciprocity")}
        if "components" not in settings:
            return SpectralPrior(**settings)
        components = tuple(
            Component(**{**component, "widths": tuple(component["widths"])}) for component in settings["components"]
        )
        counts = {name: settings.get(name) for name in ("num_modes", "num_output_modes")}
        return GreenPrior(components=components, penalty=settings["penalty"], **counts)

    @property
    def symmetries(self) -> Symmetries:
        """The symmetries that were found, the identity first."""
        self._require_fit()
        found = [Symmetry.from_dict(symmetry) for symmetry in self.choice["symmetries"]]
        return Symmetries((Symmetry.identity(self.config.dim), *found))

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under a prior by frequency, and take the steps that refine it."""
        config = self.config
        task = LinearTask(samples=samples, outputs=self.solutions, solutions=solutions)
        near_space = self.space_for(samples, config.num_modes, config.padding)
        wide_space = self.space_for(samples, config.num_wide_modes, config.wide_padding)
        near = FittedInputs.of(near_space, samples.points, samples.inputs)
        # Ends show best where functions are resolved best.
        wide = FittedInputs.of(wide_space, samples.points, samples.inputs, near.samples.axes)
        start = task.spectral(near, wide, Symmetries.none(config.dim))
        best = refined(start, [step for step in STEPS if step.name in config.steps], task)
        self._keep(best)
        return best.found.held_out

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under the prior chosen before, with the symmetries found before."""
        features = self.inputs.of(samples.points, samples.inputs)
        found = self._map(samples, features, solutions)
        self._remember(found)
        return found.held_out

    def _map(
        self,
        samples: Samples,
        features: Float[Tensor, "sample input_channel input_mode"],
        solutions: Float[Tensor, "sample mode channel"],
    ) -> LinearMap:
        """Fit the map with all that was chosen before."""
        prior = self.prior
        if prior is None:
            return self._diffusion(self.inputs, features, solutions, samples).map()
        found = prior.fit(self.inputs.space, features, self.solutions, solutions, self.symmetries)
        noise = self.choice["reciprocity"]
        if noise is None:
            return found
        pairs = Reciprocity.found(self.inputs, features, self.solutions, solutions)
        return found if pairs is None else pairs.conditioned(found, [noise])[0]

    @staticmethod
    def space_for(samples: Samples, num_modes: int, padding: float) -> FunctionSpace:
        """Make a space that symmetries of the bounding box map to itself, which costs it a few functions."""
        count = min(num_modes, MOST_WAVES ** samples.points[0].shape[1])
        return with_whole_shells(ClosedForm.space_for(samples, count, padding))

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        rows = self.rows if len(self.rows) else None
        return Affine(weights=self.weights, offset=self.offset, rows=rows)(self.inputs.of_cloud(cloud).flatten(1))

    def _diffusion(
        self,
        inputs: InputFeatures,
        features: Float[Tensor, "sample 1 input_mode"],
        solutions: Float[Tensor, "sample mode 1"],
        samples: Samples,
    ) -> Diffusion:
        return Diffusion(
            inputs=inputs.space, features=features, outputs=self.solutions, solutions=solutions, samples=samples
        )

    @property
    def held_out_method(self) -> str:
        """How training samples were held out."""
        return f"{NUM_FOLDS}-fold" if self.choice.get("diffusion") else super().held_out_method

    def _keep(self, chosen: Candidate) -> None:
        settings = {"diffusion": True} if chosen.prior is None else asdict(chosen.prior)
        symmetries = [asdict(symmetry) for symmetry in chosen.symmetries.elements[1:]]
        self.inputs = chosen.read.inputs
        self.choice = {**settings, "symmetries": symmetries, "reciprocity": chosen.noise}
        self._remember(chosen.found)

    def _remember(self, found: LinearMap) -> None:
        affine = found.affine
        self.weights, self.offset = affine.weights.contiguous(), affine.offset.contiguous()
        self.rows = affine.weights.new_empty(0) if affine.rows is None else affine.rows.contiguous()

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        # Files of version 0.2 hold the matrix of the map as one.
        stored = {f"{prefix}rows": torch.empty(0, dtype=torch.float64), **state_dict}
        super()._load_from_state_dict(stored, prefix, *rest)
