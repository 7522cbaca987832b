"""What a training tells while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """A finished pass over the training samples.

    Attributes:
        number: Counted from 1.
        training_error: Mean relative L2 error of the training samples, each when its batch came.
        validation_error: That of the samples set aside, after the epoch; None where there are none.
        learning_rate: Of the last step.
        seconds: Time since the training began, interruptions not counted.
    """

    number: int
    training_error: float
    validation_error: float | None
    learning_rate: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a training run stands after a step.

    Attributes:
        step: Steps done, counted from the beginning of the training.
        num_steps: Steps in all, if it does not stop early.
        last: The last finished epoch; None in the first one.
    """

    step: int
    num_steps: int
    last: Epoch | None
