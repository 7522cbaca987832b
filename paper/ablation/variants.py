"""What the ablation compares: operators, how they are trained, and on which problems."""

from dataclasses import dataclass, replace

from gola.operators.linear.steps import STEPS
from gola.protocol import TrainingConfig
from gola.registry import PROBLEMS
from paper.ablation.other_trainings import OTHER_TRAININGS
from paper.cells import Cell, Settings
from paper.protocol import Protocol

PAPER_PROBLEMS = ("darcy", "nonlinear_diffusion", "eikonal", "advection")
IRREGULAR_PROBLEMS = ("perforated_darcy", "plate_elasticity", "heat_sink")
ROWS = ((30, PAPER_PROBLEMS), (100, PAPER_PROBLEMS), (30, IRREGULAR_PROBLEMS))
"""Training samples, and the problems to learn from as many."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """An operator and how it is trained.

    Attributes:
        operator: Its name.
        settings: Changes to its preset.
        training: How to train, where the tables do otherwise.
        symmetric: Whether samples are augmented by the symmetries that the problem declares.
        other: The name of another way to train it, in :data:`OTHER_TRAININGS`; empty for the usual one.
        problems: Those that it is tried on.
    """

    operator: str
    settings: Settings = ()
    training: TrainingConfig | None = None
    symmetric: bool = False
    other: str = ""
    problems: tuple[str, ...] = (*PAPER_PROBLEMS, *IRREGULAR_PROBLEMS)

    def cell(self, problem: str, num_train: int, protocol: Protocol) -> Cell:
        """Return the cell of this variant."""
        training = self.training
        if self.symmetric and training is not None:
            training = replace(training, symmetries=PROBLEMS[problem].symmetries)
        modes = (("num_modes", _MODES[PROBLEMS[problem].dim]),) if self.operator == "spectral" else ()
        return Cell(
            problem=problem,
            operator=self.operator,
            num_train=num_train,
            num_points=protocol.num_points,
            settings=(*modes, *self.settings),
            training=training,
            variant=self.other,
        )


def without(*names: str) -> Settings:
    """Return the settings of `linear` without some of its steps."""
    return (("steps", tuple(step.name for step in STEPS if step.name not in names)),)


# As the automatic choice makes its networks, by dimension, and trains them.
_MODES = {2: 8, 3: 4}
_NETWORK = TrainingConfig(num_steps=2000, batch_size=2, learning_rate=4e-3, validation_share=0.0, patience=None)
_SPECTRAL = Variant(operator="spectral", training=_NETWORK)
# As it was when the ablation was made.
_GOLA = Variant(
    operator="gola",
    settings=(("weights", "equal"),),
    training=TrainingConfig(num_steps=1000, validation_share=0.0, patience=None),
)
_PLAIN_NETWORKS: Settings = (("members", ("spectral",)), ("residual_weight", 0.0), ("symmetries", False))
# In the order of the page: from the paper's operator to what users get.
VARIANTS: dict[str, Variant] = {
    "gola": _GOLA,
    "gola, absolute coordinates": replace(
        _GOLA,
        settings=(("edge_coordinates", "absolute"), ("weights", "equal")),
    ),
    **{f"spectral, {name}": replace(_SPECTRAL, other=name, problems=PAPER_PROBLEMS) for name in OTHER_TRAININGS},
    "spectral": _SPECTRAL,
    "spectral, with message passing": replace(_SPECTRAL, settings=(("local", True),)),
    "spectral, augmented by symmetries": replace(_SPECTRAL, symmetric=True),
    "spectral, 700 points in every epoch": replace(_SPECTRAL, training=replace(_NETWORK, points_per_epoch=700)),
    "spectral, weight averaging": replace(_SPECTRAL, training=replace(_NETWORK, averaging=0.99)),
    "spectral, weight decay 1": replace(_SPECTRAL, training=replace(_NETWORK, weight_decay=1.0)),
    "spectral, learned PDE residual": replace(_SPECTRAL, training=replace(_NETWORK, residual_weight=0.1)),
    "five networks, each on four folds of five": Variant(operator="auto", settings=_PLAIN_NETWORKS),
    "kernel, without homogeneity": Variant(operator="kernel", settings=(("homogeneity", False),)),
    "kernel": Variant(operator="kernel"),
    "linear, without symmetries": Variant(operator="linear", settings=without("symmetries")),
    "linear, without diffusion": Variant(operator="linear", settings=without("diffusion")),
    "linear, without diffusion and reciprocity": Variant(
        operator="linear", settings=without("diffusion", "reciprocity")
    ),
    "linear": Variant(operator="linear"),
    "auto": Variant(operator="auto"),
}


def ablation_cells(protocol: Protocol) -> list[Cell]:
    """Return the cells of all variants; those that stand in the paper's tables too are the same cells."""
    cells = (
        variant.cell(problem, num_train, protocol)
        for num_train, problems in ROWS
        for variant in VARIANTS.values()
        for problem in problems
        if problem in variant.problems
    )
    # Augmentation changes nothing on a problem without symmetries.
    return list(dict.fromkeys(cells))
