"""A fitted operator on disk, so that a choice that is resumed does not fit it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gola.fitting.training.checkpoint import Checkpoints
from gola.operators.operator import FitResult, HeldOut, Operator
from gola.operators.scaling import Scaling


@dataclass(frozen=True, kw_only=True)
class KeptFit:
    """The result of a fit that gives held-out predictions.

    Attributes:
        folder: Where it is kept; None for nowhere.
        settings: What decides the result. What was kept with other settings is refused.
    """

    folder: Path | None
    settings: Mapping[str, Any]

    def save(self, result: FitResult) -> None:
        """Keep a result."""
        if self.folder is None or result.held_out is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._checkpoints.save(
            {
                "operator": result.operator.state_dict(),
                "scaling": result.scaling.to_dict(),
                "held_out": [torch.from_numpy(values) for values in result.held_out.predictions],
                "method": result.held_out.method,
                # Neither the state of an operator nor that of its file has it.
                "representation_error": result.details.get("representation_error"),
            }
        )

    def load(self, operator: Operator) -> FitResult | None:
        """Return the result that was kept, with its state in this operator; None where there is none."""
        kept = self._checkpoints.load()
        if kept is None:
            return None
        with self._checkpoints.naming_the_file():
            operator.load_state_dict(kept["operator"])
            error = kept.get("representation_error")
            return FitResult(
                operator=operator,
                scaling=Scaling.from_dict(kept["scaling"]),
                details={} if error is None else {"representation_error": error},
                held_out=HeldOut(predictions=[values.numpy() for values in kept["held_out"]], method=kept["method"]),
            )

    @property
    def _checkpoints(self) -> Checkpoints:
        return Checkpoints(folder=self.folder, settings=self.settings)
