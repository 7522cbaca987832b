"""Options of how a network is trained: one for each field of TrainingConfig, with the same name."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gola.cli.values import names

if TYPE_CHECKING:
    from gola.protocol import TrainingConfig

PANEL = "Training, for networks"


def _option(text: str, **settings: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=PANEL, show_default=False, **settings)


NumEpochs = Annotated[int | None, _option("Passes over the training samples, instead of num_steps.", min=1)]
NumSteps = Annotated[int | None, _option("Approximate number of training steps; 1000 by default.", min=1)]
BatchSize = Annotated[int | None, _option("Samples per step; 5 by default.", min=1)]
LearningRate = Annotated[float | None, _option("Peak of the learning rate schedule; 0.001 by default.")]
Rates = Annotated[
    str | None,
    _option(
        "Learning rates to choose from instead, like 0.002,0.008, by short training runs judged on held-out samples.",
        metavar="RATES",
    ),
]
WeightDecay = Annotated[float | None, _option("Weight decay, as in AdamW; 0.0001 by default.")]
Warmup = Annotated[float | None, _option("Share of the steps with a rising learning rate; 0.1 by default.")]
Clip = Annotated[float | None, _option("Largest norm of a gradient; 1.0 by default.")]
Averaging = Annotated[
    float | None, _option("Decay of an exponential moving average of the weights, like 0.99; 0.0 (none) by default.")
]
ResidualWeight = Annotated[float | None, _option("Weight of a learned PDE residual; 0.0 (none) by default.")]
Symmetries = Annotated[
    str | None,
    _option(
        "Reflections and rotations that the operator is known to have, like -xy,yx: training samples are augmented by"
        " them.",
        metavar="MAPS",
    ),
]
PointsPerEpoch = Annotated[
    int | None, _option("Points drawn from each sample, again in every epoch; all by default.", min=1)
]
ValidationShare = Annotated[
    float | None, _option("Share of the training samples that is set aside to choose the best epoch; 0.1 by default.")
]
ValidationFrom = Annotated[
    int | None, _option("Fewest training samples of which some are set aside; 50 by default.", min=1)
]
Patience = Annotated[
    int | None, _option("Epochs without improvement on the samples set aside before stopping; 50 by default.", min=1)
]

HeldOutFolds = Annotated[
    int | None,
    _option(
        "Folds that are held out in further training runs, for bands and an estimated error; 0 (none) by default.",
        min=0,
    ),
]


def training_config(symmetries: str | None = None, rates: str | None = None, **given: Any) -> "TrainingConfig":
    """Return the training settings: those given, and defaults for the others.

    Args:
        symmetries: Maps with commas between them.
        rates: Numbers with commas between them.
        given: Other settings by name; None where an option is not used.
    """
    from gola.protocol import TrainingConfig  # PyTorch is slow to import

    given["symmetries"] = None if symmetries is None else names(symmetries, "--symmetries")
    given["rates"] = None if rates is None else _numbers(rates, "--rates")
    return TrainingConfig(**{name: value for name, value in given.items() if value is not None})


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{option} needs numbers with commas between them, like 0.002,0.008; got {text!r}.") from None
