"""What a training run uses: one device by PyTorch alone, or several by Lightning Fabric."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, final

import torch
from torch import Tensor

from gola.fitting.training.samples import Objective, SampleErrors
from gola.protocol import Session

Thing = TypeVar("Thing")


class Devices(ABC):
    """The processes that train together, each with a device of its own.

    Attributes:
        device: Of this process.
        precision: Of the arithmetic, as :class:`~gola.protocol.Session` names it.
        rank: Number of this process, counted from 0.
        num_processes: How many there are.
    """

    device: torch.device
    precision: str
    rank: int
    num_processes: int

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes files and reports."""
        return self.rank == 0

    @abstractmethod
    def setup(self, objective: Objective, optimiser: torch.optim.Optimizer) -> None:
        """Move to the device what is trained, and remember it."""

    @abstractmethod
    def errors(self, rows: Sequence[int], epoch: int) -> SampleErrors:
        """Evaluate the objective on this device."""

    @abstractmethod
    def descend(self, loss: Tensor, *, learning_rate: float, max_norm: float) -> None:
        """Take a step along the gradient of a loss, averaged over the processes and clipped to a norm."""

    @abstractmethod
    def sums(self, *numbers: float) -> list[float]:
        """Add up numbers over all processes."""

    @abstractmethod
    def from_first(self, thing: Thing) -> Thing:
        """Return what the first process has, in every process."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until all processes are here."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state of the optimiser and of the arithmetic, to continue from."""

    @abstractmethod
    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to where a state was taken."""


@final
class OneDevice(Devices):
    """This process alone, with one device, in 32 bits or with matrix products in bfloat16."""

    def __init__(self, accelerator: str, precision: str) -> None:
        self.device = torch.device(accelerator)
        self.precision = precision
        self.rank, self.num_processes = 0, 1

    def setup(self, objective: Objective, optimiser: torch.optim.Optimizer) -> None:
        """Move the objective to the device."""
        self._objective, self._optimiser = objective.to(self.device), optimiser

    def errors(self, rows: Sequence[int], epoch: int) -> SampleErrors:
        """Evaluate the objective in the precision of this device."""
        mixed = self.precision == "bf16-mixed"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=mixed):
            return self._objective(rows, epoch)

    def descend(self, loss: Tensor, *, learning_rate: float, max_norm: float) -> None:
        """Take a step as PyTorch does."""
        set_learning_rate(self._optimiser, learning_rate)
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._objective.parameters(), max_norm)
        self._optimiser.step()

    def sums(self, *numbers: float) -> list[float]:
        """Return the numbers: there is nobody else to add."""
        return list(numbers)

    def from_first(self, thing: Thing) -> Thing:
        """Return the thing: this process is the first."""
        return thing

    def wait(self) -> None:
        """Return at once."""

    def state(self) -> dict[str, Any]:
        """Return the state of the optimiser; arithmetic has none here."""
        return {"optimiser": self._optimiser.state_dict(), "precision": {}}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to a state of the optimiser."""
        self._optimiser.load_state_dict(state["optimiser"])


def launch(session: Session) -> Devices:
    """Start the processes of a session, and return what connects them; in each of them this returns once.

    Raises:
        ValueError: If Lightning is needed and not installed, or cannot train on these devices.
    """
    accelerator = session.accelerator or ("cuda" if torch.cuda.is_available() else "cpu")
    fast = accelerator == "cuda" and torch.cuda.is_bf16_supported()
    precision = session.precision or ("bf16-mixed" if fast else "32-true")
    # Gradients in float16 have to be scaled step by step, which Lightning does.
    if session.devices * session.num_nodes == 1 and precision != "16-mixed":
        return OneDevice(accelerator, precision)
    from gola.fitting.training.fabric import FabricDevices

    return FabricDevices(accelerator, precision, devices=session.devices, num_nodes=session.num_nodes)


def set_learning_rate(optimiser: torch.optim.Optimizer, learning_rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate
