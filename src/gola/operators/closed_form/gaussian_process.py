"""Regression with one covariance, of the coefficients of solutions divided by a power law."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.amplitude import fit_power_law, power_law
from gola.operators.closed_form.covariance import Covariance, Groups, Pairs
from gola.operators.closed_form.covariance_likelihood import Layout
from gola.operators.closed_form.descriptors import ScaledGroups
from gola.operators.closed_form.kriging import error_covariance, held_out_variances
from gola.operators.closed_form.ridge import RidgeFit, fit_ridge
from gola.representation.fitted import Fitted

Raw = Sequence[Float[Tensor, "sample _"]]
Known = Sequence[Float[Tensor, "known_sample _"]]


@final
@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is chosen for a regression.

    Attributes:
        layout: How the covariance sees the groups.
        covariance: The covariance.
        ridge: The ridge, in units of the covariance.
        weight: Of this regression among others.
    """

    layout: Layout
    covariance: Covariance
    ridge: float
    weight: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Settings":
        """Undo :meth:`to_dict`."""
        return Settings(
            layout=Layout(**_frozen(values["layout"])),
            covariance=Covariance(**_frozen(values["covariance"])),
            ridge=values["ridge"],
            weight=values.get("weight", 1.0),
        )


@final
class GaussianProcess(Fitted):
    r"""Gaussian-process regression with one covariance: :math:`A(z) (\sum_j k(z, z_j)\, \alpha_j + c)`.

    Attributes:
        settings: What was chosen; not saved with the state.
        scaled: Units of the groups.
        exponents: The power law A; empty where there is none.
        dual: The coefficients α.
        offset: The constant c.
    """

    scaled: ScaledGroups
    exponents: Float[Tensor, "scalar channel"]
    dual: Float[Tensor, "sample mode channel"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.scaled = ScaledGroups()
        self._register_empty("exponents", "dual", "offset")

    def solve(
        self,
        raw: Raw,
        solutions: Float[Tensor, "sample mode channel"],
        norms: Float[Tensor, "sample channel"],
        num_copies: int,
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit, and return the leave-one-out predictions.

        Args:
            raw: Groups of numbers that describe the samples.
            solutions: What to predict.
            norms: The size of each solution.
            num_copies: Of each sample, which are held out together.
        """
        groups = self.scaled(raw)
        self.exponents = self.dual.new_empty(0)
        if self.settings.layout.has_power_law:
            self.exponents = fit_power_law(*sizes(self.settings.layout, self.scaled, groups, norms))
        factors = self._factors(groups, groups)[:, None, :]
        fit = self._regression(groups, (solutions / factors).flatten(1), num_copies)
        shape = solutions.shape[1:]
        self.dual = fit.dual.unflatten(1, shape).contiguous()
        self.offset = fit.free.sum(dim=0).unflatten(0, shape)
        return fit.held_out.unflatten(1, shape) * factors

    def coefficients(self, raw: Raw, known: Known) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample.

        Args:
            raw: What describes the samples.
            known: What describes the training samples.
        """
        groups, training = self.scaled(raw), self.scaled(known)
        matrix = self.settings.covariance(Pairs.of(groups, training))
        found = torch.einsum("ts,smc->tmc", matrix, self.dual) + self.offset
        return found * self._factors(groups, training)[:, None, :]

    def error_covariance(self, raw: Raw, known: Known) -> Float[Tensor, "sample sample"]:
        """Return the covariance of errors under the Gaussian process."""
        new, training = self.scaled(raw), self.scaled(known)
        covariance = self.settings.covariance
        found = error_covariance(
            covariance(Pairs.of(training, training)),
            covariance(Pairs.of(new, training)),
            covariance(Pairs.of(new, new)),
            self.settings.ridge,
            is_affine=covariance.is_affine,
        )
        factors = self._factors(new, training).square().mean(dim=1).sqrt()
        return factors[:, None] * found * factors

    def held_out_variances(self, raw: Raw) -> Float[Tensor, " sample"]:
        """Return the variances of errors of training samples, had each been held out."""
        groups = self.scaled(raw)
        covariance = self.settings.covariance
        matrix = covariance(Pairs.of(groups, groups))
        found = held_out_variances(matrix, self.settings.ridge, is_affine=covariance.is_affine)
        return self._factors(groups, groups).square().mean(dim=1) * found

    def _regression(self, groups: Groups, columns: Float[Tensor, "sample output"], num_copies: int) -> RidgeFit:
        covariance = self.settings.covariance
        matrix = covariance(Pairs.of(groups, groups))
        free = matrix.new_ones(len(matrix), 1 if covariance.is_affine else 0)
        together = torch.arange(len(matrix)).view(-1, num_copies) if num_copies > 1 else None
        return fit_ridge(matrix, columns, self.settings.ridge, free, together)

    def _factors(self, groups: Groups, training: Groups) -> Float[Tensor, "sample channel"]:
        """Return what the solutions of samples are divided by."""
        if not len(self.exponents):
            return groups.smooth[0].new_ones(len(groups.smooth[0]), self.offset.shape[-1] or 1)
        smooth = ~torch.tensor(self.settings.layout.is_linear)
        asked, known = (self.scaled.scalars(some)[:, smooth] for some in (groups, training))
        return power_law(asked, self.exponents, known)


def sizes(
    layout: Layout, scaled: ScaledGroups, groups: Groups, norms: Float[Tensor, "sample channel"]
) -> tuple[Float[Tensor, "sample scalar"], Float[Tensor, "sample channel"]]:
    """Return what a power law sees of samples, and the size of their solutions in units of what they are linear in."""
    linear = [group for group, is_linear in zip(groups.linear, layout.is_linear, strict=True) if is_linear]
    loads = torch.cat(linear, dim=1).norm(dim=1) if linear else norms.new_ones(len(norms))
    found = norms / torch.where(loads > 0.0, loads, 1.0)[:, None]
    scalars = scaled.scalars(groups)[:, ~torch.tensor(layout.is_linear)]
    return scalars, torch.where(found > 0.0, found, 1.0)


def _frozen(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
