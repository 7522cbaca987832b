"""Training on several devices or with float16, by Lightning Fabric."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, final

import torch
from torch import Tensor

from gola.extras import require
from gola.fitting.training.devices import Devices, set_learning_rate
from gola.fitting.training.samples import Objective, SampleErrors

Thing = TypeVar("Thing")


@final
class FabricDevices(Devices):
    """Processes that Lightning starts on one machine or several, or that a scheduler such as SLURM has started.

    Args:
        accelerator: ``"cpu"`` or ``"cuda"``.
        precision: Of the arithmetic.
        devices: Processes per machine.
        num_nodes: Machines.
    """

    def __init__(self, accelerator: str, precision: str, *, devices: int, num_nodes: int) -> None:
        lightning = require("lightning.fabric", extra="train", what="Training on several devices or with float16")
        environments = require("lightning.fabric.plugins.environments", extra="train", what="Training")
        exceptions = require("lightning.fabric.utilities.exceptions", extra="train", what="Training")
        alone = devices * num_nodes == 1
        try:
            self._fabric = lightning.Fabric(
                accelerator=accelerator,
                devices=devices,
                num_nodes=num_nodes,
                strategy="auto" if alone else "ddp",
                precision=precision,
                # A process that trains alone may be one of many in a job of SLURM, which is not its business.
                plugins=[environments.LightningEnvironment()] if alone else None,
            )
        except (RuntimeError, exceptions.MisconfigurationException) as error:
            raise ValueError(f"Cannot train on {devices} devices of {num_nodes} machines: {error}") from error
        self._fabric.launch()
        self.device: torch.device = self._fabric.device
        self.precision = precision
        self.rank: int = self._fabric.global_rank
        self.num_processes: int = self._fabric.world_size

    def setup(self, objective: Objective, optimiser: torch.optim.Optimizer) -> None:
        """Let Lightning wrap the objective and the optimiser."""
        self._objective, self._optimiser = self._fabric.setup(objective, optimiser)

    def errors(self, rows: Sequence[int], epoch: int) -> SampleErrors:
        """Evaluate the objective as Lightning wraps it."""
        return self._objective(rows, epoch)

    def descend(self, loss: Tensor, *, learning_rate: float, max_norm: float) -> None:
        """Take a step with the gradient averaged over the processes."""
        set_learning_rate(self._optimiser, learning_rate)
        self._optimiser.zero_grad()
        self._fabric.backward(loss)
        self._fabric.clip_gradients(self._objective, self._optimiser, max_norm=max_norm, error_if_nonfinite=False)
        self._optimiser.step()

    def sums(self, *numbers: float) -> list[float]:
        """Add up numbers over all processes."""
        own = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        return self._fabric.all_reduce(own, reduce_op="sum").tolist()

    def from_first(self, thing: Thing) -> Thing:
        """Send what the first process has to the others."""
        return self._fabric.broadcast(thing)

    def wait(self) -> None:
        """Wait until all processes are here."""
        self._fabric.barrier()

    def state(self) -> dict[str, Any]:
        """Return the state of the optimiser and of the scale of gradients in float16."""
        return {"optimiser": self._optimiser.state_dict(), "precision": self._fabric.strategy.precision.state_dict()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to where a state was taken."""
        self._optimiser.load_state_dict(state["optimiser"])
        if state["precision"]:
            self._fabric.strategy.precision.load_state_dict(state["precision"])
