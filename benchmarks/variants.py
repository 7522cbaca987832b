"""What the ablation compares: operators, how they are trained, and on which problems."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from gola import TrainingConfig
from gola.registry import PROBLEMS
from gola.runs import RunConfig
from paper.budgets import BUDGETS
from paper.cells import Cell, run_of
from paper.reproduction import Reproduction

WORK = Reproduction.of("standard", out=Path("results/paper"), data=Path("data/paper"))
# Problems on meshes have no resolution to set.
IRREGULAR_WORK = replace(WORK, protocol=replace(WORK.protocol, parameters={}))
PAPER_PROBLEMS = ("darcy", "nonlinear_diffusion", "eikonal", "advection")
IRREGULAR_PROBLEMS = ("perforated_darcy", "plate_elasticity", "heat_sink")
# Training samples, and the problems to learn from as many.
ROWS = ((30, PAPER_PROBLEMS), (100, PAPER_PROBLEMS), (30, IRREGULAR_PROBLEMS))


@dataclass(frozen=True, kw_only=True)
class Variant:
    """An operator and how it is trained.

    Attributes:
        operator: Its name.
        settings: Changes to its preset.
        training: How to train, where the tables do otherwise.
        symmetric: Whether to learn from images under the symmetries that the problem declares.
    """

    operator: str
    settings: dict[str, object] = field(default_factory=dict)
    training: TrainingConfig | None = None
    symmetric: bool = False

    def run(self, problem: str, num_train: int, seed: int) -> RunConfig:
        """Return the run of this variant."""
        cell = Cell(problem=problem, operator=self.operator, num_train=num_train, num_points=WORK.protocol.num_points)
        usual = run_of(cell, WORK.protocol, BUDGETS["standard"], WORK.data, seed)
        training = self.training or usual.training
        if self.symmetric:
            training = replace(training, symmetries=PROBLEMS[problem].symmetries)
        modes = {"num_modes": _MODES[PROBLEMS[problem].dim]} if self.operator == "spectral" else {}
        return replace(usual, settings={**modes, **self.settings}, training=training)


# As the automatic choice makes its networks, by dimension, and trains them.
_MODES = {2: 8, 3: 4}
_NETWORK = TrainingConfig(num_steps=2000, batch_size=2, learning_rate=4e-3, validation_share=0.0, patience=None)
SPECTRAL = Variant(operator="spectral", training=_NETWORK)
VARIANTS = {
    "gola": Variant(operator="gola"),
    "gola, absolute coordinates": Variant(operator="gola", settings={"edge_coordinates": "absolute"}),
    "spectral": SPECTRAL,
    "spectral, with message passing": replace(SPECTRAL, settings={"local": True}),
    "spectral, declared symmetries": replace(SPECTRAL, symmetric=True),
    "spectral, points drawn anew": replace(SPECTRAL, training=replace(_NETWORK, points_per_epoch=700)),
    "spectral, weight averaging": replace(SPECTRAL, training=replace(_NETWORK, averaging=0.99)),
    "spectral, weight decay 1": replace(SPECTRAL, training=replace(_NETWORK, weight_decay=1.0)),
    "spectral, local law": replace(SPECTRAL, training=replace(_NETWORK, law=0.1)),
    "five networks, each without a fifth": Variant(
        operator="auto", settings={"members": "spectral", "law": 0.0, "symmetries": False}
    ),
    "kernel, without homogeneity": Variant(operator="kernel", settings={"homogeneity": False}),
    "kernel": Variant(operator="kernel"),
    "linear, without symmetries": Variant(operator="linear", settings={"symmetries": False}),
    "linear, without diffusion": Variant(operator="linear", settings={"diffusion": False}),
    "linear, without diffusion and reciprocity": Variant(
        operator="linear", settings={"diffusion": False, "reciprocity": False}
    ),
    "linear": Variant(operator="linear"),
    "auto": Variant(operator="auto"),
}
