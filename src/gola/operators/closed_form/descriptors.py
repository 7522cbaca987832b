"""What describes a sample besides its points: parameters, the shape of a moved mesh, input fields at the nodes."""

import copy
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gola.geometry.interpolation import interpolation_weights
from gola.operators.closed_form.covariance import Groups
from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.closed_form.samples import Samples
from gola.operators.cloud import Cloud
from gola.representation.fitted import Fitted
from gola.representation.function_space import FunctionSpace

# Modes of a geometry count if they move points by this share of what the strongest does; more than so many are noise.
_SMALLEST_MODE, _MOST_MODES = 0.02, 8
# A group that varies by less than this share of its size is the same in all samples.
_CONSTANT_BELOW = 1e-9


class Descriptors(Fitted):
    """Groups of numbers that describe samples, as covariances compare them.

    Each parameter is a group, and so is each mode of the geometry where the nodes of a mesh move (the proper orthogonal
    decomposition of their coordinates), and each input channel, or all components of a vector or tensor that are known
    to be one: by values at the nodes, or by coefficients in cosines where samples have points of their own. Groups that
    are the same in all training samples are left out.

    Attributes:
        at_nodes: Whether input channels are seen by their values at the nodes.
        nodes: The nodes that input fields are read at; none where they move.
        fields: The space of the input functions otherwise.
        mean_geometry: Mean coordinates of the nodes; empty where they do not move.
        geometry_modes: Orthonormal modes of the coordinates.
        bundles: The number of the vector, tensor or scalar that each input channel belongs to.
        sizes: Numbers in each group.
        kept: Which groups vary.
    """

    at_nodes: Tensor
    nodes: Float[Tensor, "node dim"]
    fields: InputFeatures
    mean_geometry: Float[Tensor, " coordinate"]
    geometry_modes: Float[Tensor, "mode coordinate"]
    bundles: Tensor
    sizes: Tensor
    kept: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.fields = InputFeatures()
        self._register_empty("nodes", "mean_geometry", "geometry_modes")
        self.register_buffer("at_nodes", torch.tensor(True))
        self.register_buffer("bundles", torch.empty(0, dtype=torch.int64))
        self.register_buffer("sizes", torch.empty(0, dtype=torch.int64))
        self.register_buffer("kept", torch.empty(0, dtype=torch.bool))

    @staticmethod
    def of(samples: Samples, space: FunctionSpace) -> "Descriptors":
        """Find out what describes some samples.

        Args:
            samples: The samples.
            space: Where input functions are expressed, if samples do not share their nodes.
        """
        found, cloud = Descriptors(), samples.cloud
        found.at_nodes = torch.tensor(samples.share_nodes)
        found.bundles = torch.tensor(samples.input_bundles or range(cloud.values.shape[1]), dtype=torch.int64)
        if cloud.values.shape[1] and not samples.share_nodes:
            found.fields, _ = InputFeatures.fitted(space, samples.points, samples.inputs)
        elif cloud.values.shape[1] and not samples.nodes_move:
            found.nodes = samples.points[0]
        if samples.nodes_move:
            coordinates = cloud.points.double().view(cloud.num_samples, -1)
            found.mean_geometry = coordinates.mean(dim=0)
            _, strengths, modes = torch.linalg.svd(coordinates - found.mean_geometry, full_matrices=False)
            strong = strengths[:_MOST_MODES] > _SMALLEST_MODE * strengths[0]
            found.geometry_modes = modes[:_MOST_MODES][strong].contiguous()
        groups = found._groups(cloud)
        found.sizes = torch.tensor([group.shape[1] for group in groups], dtype=torch.int64)
        found.kept = torch.tensor([_varies(group) for group in groups], dtype=torch.bool)
        return found

    @property
    def may_be_loads(self) -> tuple[bool, ...]:
        """Which groups an operator may be linear in: parameters and fields, but no shape."""
        of_kept = [
            not is_shape for is_shape, is_kept in zip(self._is_shape, self.kept.tolist(), strict=True) if is_kept
        ]
        return tuple(of_kept) or (True,)

    def without_shape(self) -> "Descriptors | None":
        """Return these without the modes of the geometry; None where there are none, or nothing else."""
        kept = self.kept & ~torch.tensor(self._is_shape, dtype=torch.bool)
        if not bool(kept.any()) or torch.equal(kept, self.kept):
            return None
        other = copy.copy(self)
        other._buffers = {**self._buffers, "kept": kept}
        return other

    @property
    def _is_shape(self) -> list[bool]:
        """Which of all groups are modes of the geometry."""
        num_fields = int(self.bundles.max()) + 1 if len(self.bundles) else 0
        num_parameters = len(self.sizes) - len(self.geometry_modes) - num_fields
        return [False] * num_parameters + [True] * len(self.geometry_modes) + [False] * num_fields

    def raw(self, cloud: Cloud) -> list[Float[Tensor, "sample _"]]:
        """Return the groups of each sample of a cloud."""
        groups = self._groups(cloud)
        sizes = [group.shape[1] for group in groups]
        if sizes != self.sizes.tolist():
            raise ValueError(
                "The input fields must be given at the nodes of the training samples, in their order;"
                f" got {max(sizes)} points, and the nodes are {int(self.sizes.max())}."
            )
        kept = [group for group, varies in zip(groups, self.kept.tolist(), strict=True) if varies]
        return kept or [cloud.points.new_zeros(cloud.num_samples, 1).double()]

    def _groups(self, cloud: Cloud) -> list[Float[Tensor, "sample _"]]:
        groups = _columns(cloud.parameters.double())
        if len(self.geometry_modes):
            coordinates = cloud.points.double().reshape(cloud.num_samples, -1)
            if coordinates.shape[1] != len(self.mean_geometry):
                wanted, given = len(self.mean_geometry) // cloud.dim, cloud.num_points // cloud.num_samples
                raise ValueError(
                    f"The mesh must have the nodes of the training samples, moved: {wanted} points in the same order;"
                    f" got {given}."
                )
            groups += _columns((coordinates - self.mean_geometry) @ self.geometry_modes.T)
        if not cloud.values.shape[1]:
            return groups
        if bool(self.at_nodes):
            return groups + self._bundled(self._fields_at_nodes(cloud).mT)
        return groups + self._bundled(self.fields.of_cloud(cloud))

    def _bundled(self, fields: Float[Tensor, "sample channel number"]) -> list[Float[Tensor, "sample _"]]:
        """Return the components of each vector or tensor one after the other."""
        bundles = self.bundles.to(fields.device)
        return [fields[:, bundles == number].flatten(1) for number in range(int(self.bundles.max()) + 1)]

    def _fields_at_nodes(self, cloud: Cloud) -> Float[Tensor, "sample node channel"]:
        """Return the input fields at the nodes: as they are, or interpolated where they are known elsewhere."""
        fields = []
        for points, values in zip(
            *(part.double().split(cloud.sizes) for part in (cloud.points, cloud.values)), strict=True
        ):
            if not len(self.nodes) or (points.shape == self.nodes.shape and torch.equal(points, self.nodes)):
                fields.append(values)
                continue
            rows, weights = interpolation_weights(points.numpy(), self.nodes.numpy())
            fields.append(torch.einsum("nk,nkc->nc", torch.from_numpy(weights), values[torch.from_numpy(rows)]))
        if len({len(values) for values in fields}) > 1:
            raise ValueError(
                f"All meshes must have the nodes of the training samples, moved; got {[*map(len, fields)]} points."
            )
        return torch.stack(fields)


class ScaledGroups(Fitted):
    """Groups in units of their spread over the training samples, some of them as logarithms.

    Attributes:
        centre: Mean over the training samples, of all groups one after the other.
        spreads: Root mean square of each group about its mean.
        units: Root mean square of each group.
        logs: Which groups are seen as their logarithms.
    """

    centre: Float[Tensor, " number"]
    spreads: Float[Tensor, " group"]
    units: Float[Tensor, " group"]
    logs: Tensor

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("centre", "spreads", "units")
        self.register_buffer("logs", torch.empty(0, dtype=torch.bool))

    @staticmethod
    def of(raw: Sequence[Float[Tensor, "sample _"]], logs: Sequence[bool]) -> "ScaledGroups":
        """Take means and spreads of the groups of the training samples."""
        found = ScaledGroups()
        found.logs = torch.tensor(list(logs))
        seen = found._seen(raw)
        found.centre = torch.cat([group.mean(dim=0) for group in seen])
        spreads = torch.stack([(group - group.mean(dim=0)).square().sum(dim=1).mean().sqrt() for group in seen])
        found.spreads = torch.where(spreads > 0.0, spreads, 1.0)
        found.units = torch.stack([group.square().sum(dim=1).mean().sqrt() for group in raw])
        return found

    def __call__(self, raw: Sequence[Float[Tensor, "sample _"]]) -> Groups:
        """Return groups as covariances compare them."""
        sizes = [group.shape[1] for group in raw]
        centred = [
            (group - centre) / spread
            for group, centre, spread in zip(self._seen(raw), self.centre.split(sizes), self.spreads, strict=True)
        ]
        return Groups(
            smooth=centred,
            linear=[group / unit for group, unit in zip(raw, self.units, strict=True)],
        )

    def scalars(self, groups: Groups) -> Float[Tensor, "sample group"]:
        """Return one number for each group: a parameter itself, or the mean of a field over its nodes."""
        means = [group.mean(dim=1) * group.shape[1] ** 0.5 for group in groups.smooth]
        return torch.stack(means, dim=1)

    def _seen(self, raw: Sequence[Float[Tensor, "sample _"]]) -> list[Float[Tensor, "sample _"]]:
        return [group.log() if is_log else group for group, is_log in zip(raw, self.logs.tolist(), strict=True)]


def _columns(table: Float[Tensor, "sample column"]) -> list[Float[Tensor, "sample 1"]]:
    return [column[:, None] for column in table.unbind(dim=1)]


def _varies(group: Float[Tensor, "sample _"]) -> bool:
    return bool((group - group[0]).abs().max() > _CONSTANT_BELOW * group.abs().max())
