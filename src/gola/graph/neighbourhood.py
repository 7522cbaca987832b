"""Neighbour lists: who sends to whom, as compressed sparse rows."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbourhood:
    """The senders of every receiver.

    Receiver i hears from ``senders[offsets[i]:offsets[i + 1]]``, in ascending order and without repetition.

    Attributes:
        offsets: Where the list of each receiver starts; the last entry is the number of edges.
        senders: The lists, one after the other.
        num_senders: How many points there are to hear from.
        symmetric: Whether receivers and senders are the same points and every edge runs both ways. Then the
            reversed lists are the lists themselves, and a backward pass can gather instead of scatter.
    """

    offsets: Int[Tensor, " receiver_plus_one"]
    senders: Int[Tensor, " edge"]
    num_senders: int
    symmetric: bool

    @property
    def num_receivers(self) -> int:
        """How many points hear."""
        return len(self.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Total length of the lists."""
        return len(self.senders)

    @property
    def degrees(self) -> Int[Tensor, " receiver"]:
        """Number of senders of each receiver."""
        return self.offsets.diff()

    @property
    def hears(self) -> Bool[Tensor, " receiver"]:
        """Whether each receiver has any sender."""
        return self.degrees > 0

    @functools.cached_property
    def all_hear(self) -> bool:
        """Whether every receiver surely has a sender; False where looking would stall the computation."""
        plain = self.offsets.device.type == "cpu" and type(self.offsets) is Tensor
        return plain and not torch.compiler.is_compiling() and bool(self.hears.all())

    @property
    def receivers(self) -> Int[Tensor, " edge"]:
        """The receiver of each edge, aligned with ``senders``."""
        indices = torch.arange(self.num_receivers, device=self.offsets.device)
        return indices.repeat_interleave(self.degrees, output_size=self.num_edges)

    def reversed(self) -> "Neighbourhood":
        """Return the lists with senders and receivers exchanged."""
        if self.symmetric:
            return self
        # A stable sort by sender keeps the receivers of each sender in ascending order.
        order = torch.sort(self.senders, stable=True).indices
        counts = torch.bincount(self.senders, minlength=self.num_senders)
        offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return Neighbourhood(
            offsets=offsets,
            senders=self.receivers[order],
            num_senders=self.num_receivers,
            symmetric=False,
        )

    def to(self, device: torch.device | str) -> "Neighbourhood":
        """Return the same lists on another device."""
        return replace(self, offsets=self.offsets.to(device), senders=self.senders.to(device))

    @staticmethod
    def collate(neighbourhoods: Sequence["Neighbourhood"]) -> "Neighbourhood":
        """Put the lists of several samples into one; samples never hear each other."""
        if len(neighbourhoods) == 1:
            return neighbourhoods[0]
        offsets = [neighbourhoods[0].offsets[:1]]
        senders = []
        num_edges = num_senders = 0
        for one in neighbourhoods:
            offsets.append(one.offsets[1:] + num_edges)
            senders.append(one.senders + num_senders)
            num_edges += one.num_edges
            num_senders += one.num_senders
        return Neighbourhood(
            offsets=torch.cat(offsets),
            senders=torch.cat(senders),
            num_senders=num_senders,
            symmetric=all(one.symmetric for one in neighbourhoods),
        )
