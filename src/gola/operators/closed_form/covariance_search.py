"""Search for the covariance of samples: layouts are proposed one after the other, and kept where the data support them.

What a layout makes of the data is said by their likelihood (:mod:`.covariance_likelihood`) and by leave-one-out errors,
which had no say in its lengths, so that what they say of the chosen one is nearly true.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from jaxtyping import Float
from scipy.optimize import OptimizeResult, minimize

from gola.operators.closed_form.covariance import FAMILIES, RESPONSES, Covariance, Pairs
from gola.operators.closed_form.covariance_likelihood import Layout, Objective, Responses
from gola.operators.closed_form.roles import Role
from gola.threads import one_thread

# Steps of the optimiser while layouts are proposed and compared, and in the end.
_FEWEST_STEPS, _FEW_STEPS, _MANY_STEPS = 4, 15, 60
# A layout has to have this share of the error of a simpler one: what differs by less differs by chance.
_CLEARLY_BETTER = 0.97
# Logarithms of likelihoods that differ by less say nothing.
_CERTAIN = 2.0
# Where some groups are probably loads, that they are not is so many times less likely, as a logarithm.
_UNEXPECTED = math.log(10.0)
# The search for groups that an operator is linear in ends when so many of them made the data no likelier.
_PATIENCE = 3
# So many samples double the number of standard errors that a gain takes.
_MORE_CERTAINTY = 20.0
# How many standard errors a gain takes that was to be expected.
_LITTLE_CERTAINTY = 0.5
# Of what is averaged none has errors larger than those of the best by this factor, and none less than this share of the
# weight of the best; more than so many cost more time than they gain.
_FAR_WORSE, _LEAST_SHARE, _MOST_AVERAGED = 1.5, 0.05, 6
# With more groups, logarithms are taken of all positive ones or none.
_MOST_TOGGLES = 6


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A layout with its best covariance.

    Attributes:
        errors: Relative leave-one-out error of each sample.
        cost: The negative logarithm of the likelihood.
        surprise: That of how likely the layout was before any sample was seen.
        layout: The layout.
        covariance: The covariance.
    """

    errors: Float[np.ndarray, " sample"]
    cost: float
    surprise: float
    layout: Layout
    covariance: Covariance

    @property
    def error(self) -> float:
        """Geometric mean of the errors: samples with tiny solutions do not dominate it."""
        return float(np.exp(np.log(self.errors).mean()))

    @property
    def mean_error(self) -> float:
        """Arithmetic mean of the errors: one that is far off counts."""
        return float(self.errors.mean())

    def is_clearly_better_than(self, other: "Found", *, is_likely: bool) -> bool:
        """Whether the data are far likelier and errors not clearly larger, or errors far lower and the data as likely.

        Far lower are errors by more than a few percent, and for most samples. Among few samples errors are mostly
        chance, and likelihoods choose better. For what was to be expected it is enough that both speak for it.

        Args:
            other: Another layout with its best covariance.
            is_likely: Whether this layout was to be expected before any sample was seen.
        """
        if not np.isfinite(self.errors).all() or not np.isfinite(other.errors).all():
            return bool(np.isfinite(self.errors).all())
        gains = np.log(other.errors) - np.log(self.errors)
        spread = float(gains.std(ddof=1)) / math.sqrt(len(gains))
        # Of few samples the standard error itself is uncertain.
        certainty = 1.0 + _MORE_CERTAINTY / len(gains)
        likelier = other.cost + other.surprise - self.cost - self.surprise
        if likelier > _CERTAIN:
            return float(gains.mean()) > -2.0 * certainty * spread
        if is_likely and likelier > 0.0:
            return float(gains.mean()) > 0.0
        limit = (_LITTLE_CERTAINTY if is_likely else certainty) * spread
        return float(gains.mean()) > max(limit, -math.log(_CLEARLY_BETTER)) and likelier > -_CERTAIN


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class CovarianceSearch:
    """Layouts by leave-one-out error, and the most likely covariance of each.

    Attributes:
        pairs: Returns what is known of each pair of training samples, by which groups are seen as logarithms.
        responses: Returns what is to be predicted in a layout.
        roles: What each group may be to the operator, and what it probably is.
    """

    pairs: Callable[[tuple[bool, ...]], Pairs]
    responses: Callable[[Layout], Responses]
    roles: tuple[Role, ...]
    _known: dict[Layout, Found] = field(default_factory=dict, init=False)

    @one_thread()
    def best(self) -> Found:
        """Vary one property of the layout after the other, and keep what is clearly better."""
        start = self.found(self._start())
        law = self._better(start, self._power_laws(start))
        # What is linear shows only once sizes are explained by whatever explains them.
        linear = self._better(start, self._linear_groups(min(start, law, key=_cost)))
        best = self._better(law, iter([linear.layout]))
        for vary in (self._power_laws, self._families, self._logarithms, self._power_laws):
            best = self._better(best, vary(best))
        return self._refined(best)

    def _start(self) -> Layout:
        """Return the layout with logarithms of what was drawn on such a scale, or of all that is positive.

        There are none where the data are far likelier so.
        """
        none = (False,) * len(self.roles)
        costs = {}
        for logs in dict.fromkeys((self._likely_logs, self._positive, none)):
            layout = Layout(logs=logs, is_linear=none)
            # Many logarithms show what they are worth only together with a power law.
            cost = min(self.found(one).cost for one in (layout, replace(layout, has_power_law=True)))
            costs[layout] = cost + (0.0 if any(logs) else _CERTAIN)
        return min(costs, key=costs.__getitem__)

    def with_weights(self, best: Found) -> list[tuple[Found, float]]:
        """Return the best and others that are about as likely, each with its share of what they make likely together.

        They are linear in the same groups: what an operator is linear in is known or found, and a wrong guess
        extrapolates wildly. Few samples hardly tell families, logarithms and power laws apart, and the average of
        layouts is better than one of them chosen by chance.
        """
        known = {**self._known, best.layout: best}
        same = [one for one in known.values() if one.layout.is_linear == best.layout.is_linear]
        limit = _FAR_WORSE * best.mean_error
        good = [one for one in same if one is best or (one.mean_error <= limit and math.isfinite(one.cost))]
        likeliest = min(one.cost for one in good)
        # The search had reasons to prefer the best one to those that are likelier by little.
        shares = {id(one): math.exp((likeliest - one.cost) / _CERTAIN) for one in good} | {id(best): 1.0}
        chosen = sorted(good, key=lambda one: (one is not best, -shares[id(one)]))[:_MOST_AVERAGED]
        chosen = [one for one in chosen if shares[id(one)] >= _LEAST_SHARE]
        total = sum(shares[id(one)] for one in chosen)
        return [(one, shares[id(one)] / total) for one in chosen]

    def found(self, layout: Layout, *starts: Covariance) -> Found:
        """Return the best covariance of a layout, after few steps."""
        if layout not in self._known:
            self._known[layout] = self._optimised(layout, starts, _FEW_STEPS)
        return self._known[layout]

    def _better(self, best: Found, layouts: Iterator[Layout]) -> Found:
        for layout in layouts:
            found = self.found(layout, best.covariance)
            if found.is_clearly_better_than(best, is_likely=self._is_likely(layout, best.layout)):
                best = found
        return best

    def _is_likely(self, layout: Layout, other: Layout) -> bool:
        """Whether a layout differs from another in loads that were expected, or in a power law.

        Most solutions scale with something, and where they do not, the exponents of the law are small.
        """
        has_loads = any(layout.is_linear) and layout.is_linear == self._likely_loads != other.is_linear
        return has_loads or layout == replace(other, has_power_law=True)

    def _refined(self, best: Found) -> Found:
        return self._optimised(best.layout, (best.covariance,), _MANY_STEPS)

    def _power_laws(self, best: Found) -> Iterator[Layout]:
        if not all(best.layout.is_linear):
            yield replace(best.layout, has_power_law=not best.layout.has_power_law)

    def _families(self, best: Found) -> Iterator[Layout]:
        yield from (replace(best.layout, family=family) for family in FAMILIES if family != best.layout.family)

    def _logarithms(self, best: Found) -> Iterator[Layout]:
        if sum(self._positive) > _MOST_TOGGLES:
            return
        for group in np.flatnonzero(self._positive).tolist():
            logs = best.layout.logs
            yield replace(best.layout, logs=(*logs[:group], not logs[group], *logs[group + 1 :]))

    def _linear_groups(self, best: Found) -> Iterator[Layout]:
        """Propose groups that the operator may be linear in.

        Loads and boundary values are often all that has both signs or starts at zero. Otherwise groups are added one by
        one, each time the one that makes the data likeliest: of several loads each explains little by itself, and the
        next one more.
        """
        layout, groups = best.layout, [place for place, role in enumerate(self.roles) if role.may_be_load]
        if any(self._likely_loads):
            yield from self._linear_in(np.flatnonzero(self._likely_loads).tolist(), layout)
        chosen: list[int] = []
        costs = [best.cost]
        while len(chosen) < len(groups) and min(costs[-_PATIENCE:]) <= min(costs):
            known = self.found(layout.with_linear(chosen, is_affine=True), best.covariance)
            others = [group for group in groups if group not in chosen]
            tried = [self._glance(layout.with_linear([*chosen, group], is_affine=True), known) for group in others]
            chosen.append(others[int(np.argmin(tried))])
            costs.append(min(tried))
            yield from self._linear_in(chosen, layout)

    @property
    def _positive(self) -> tuple[bool, ...]:
        return tuple(role.may_be_log for role in self.roles)

    @property
    def _likely_logs(self) -> tuple[bool, ...]:
        return tuple(role.is_likely_log for role in self.roles)

    @property
    def _likely_loads(self) -> tuple[bool, ...]:
        return tuple(role.is_likely_load for role in self.roles)

    def _linear_in(self, groups: Sequence[int], layout: Layout) -> list[Layout]:
        """Return the layouts in which solutions follow some groups linearly, or only scale with them.

        What only scales with loads that are all positive is the matter of a power law.
        """
        responses = RESPONSES[:1] if all(self._positive[group] for group in groups) else RESPONSES
        return [
            *(layout.with_linear(groups, is_affine=False, response=response) for response in responses),
            layout.with_linear(groups, is_affine=True),
        ]

    def _glance(self, layout: Layout, known: Found) -> float:
        """Return about how unlikely a layout makes the data."""
        objective, result = self._minimised(layout, (known.covariance,), _FEWEST_STEPS)
        return objective.cost(result.x) + self._surprise(layout)

    def _surprise(self, layout: Layout) -> float:
        """Return the negative logarithm of how likely a layout was before any sample was seen.

        Loads that were expected are no surprise. Of all other choices of as many groups none is likelier than the rest,
        and with few samples one of so many fits them well by chance.
        """
        if layout.is_linear == self._likely_loads:
            return 0.0
        unexpected = _UNEXPECTED if any(self._likely_loads) else 0.0
        return unexpected + math.log(math.comb(sum(role.may_be_load for role in self.roles), sum(layout.is_linear)))

    def _optimised(self, layout: Layout, starts: Sequence[Covariance], num_steps: int) -> Found:
        objective, result = self._minimised(layout, starts, num_steps)
        return Found(
            errors=objective.errors(result.x),
            cost=objective.cost(result.x),
            surprise=self._surprise(layout),
            layout=layout,
            covariance=objective.covariance(result.x),
        )

    def _minimised(
        self, layout: Layout, starts: Sequence[Covariance], num_steps: int
    ) -> tuple[Objective, OptimizeResult]:
        objective = Objective(pairs=self.pairs(layout.logs), responses=self.responses(layout), layout=layout)
        vectors = [objective.start(), *(objective.vector(start) for start in starts)]
        start = min(vectors, key=lambda vector: objective.value(vector)[0])
        return objective, minimize(
            objective.value,
            start,
            jac=True,
            method="SLSQP",
            bounds=objective.bounds,
            options={"maxiter": num_steps},
        )


def _cost(found: Found) -> float:
    return found.cost
