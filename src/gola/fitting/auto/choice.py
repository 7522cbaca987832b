"""Choose among closed forms, ensembles of networks and their blend, on the training samples alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gola.fitting.auto.candidates import Choice
from gola.fitting.auto.channel_groups import channel_groups
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.fitting.auto.networks import add_networks
from gola.fitting.auto.trial import Trial
from gola.operators.operator import HeldOut, Operator
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import OPERATORS

if TYPE_CHECKING:
    from gola.fitting.auto.auto import AutoConfig

# Solutions that are expressed with a smaller error are expressed exactly.
_EXACT = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """What an automatic choice keeps.

    Attributes:
        operators: Fitted operators by name: members, and those that ensembles correct.
        ensembles: Trained ensembles by name.
        weights: Of each member in the prediction.
        scaling: In the units of the data.
        held_out: Predictions of the training samples, each by members that have not seen it.
        choice: What was chosen, and why.
    """

    operators: dict[str, Operator]
    ensembles: dict[str, NetworkEnsemble]
    weights: dict[str, float]
    scaling: Scaling
    held_out: HeldOut
    choice: Choice


def choose(config: "AutoConfig", task: FitTask) -> Chosen | list[tuple[int, ...]]:
    """Fit all candidates, and keep what predicts held-out samples best.

    Where closed forms predict some target channels far better than others, groups of channels are returned instead:
    they had better be chosen for apart.

    A closed form gives its leave-one-out predictions by itself; networks are trained without one fold of the samples
    each, where they are worth it (:func:`gola.fitting.auto.networks.add_networks`). Weights of a blend are judged on
    samples that had no say in them. The blend is taken if it is better than the best single candidate by more than the
    standard error of the difference.

    Where the time is limited, operators that do not fit in are left out, and networks are trained for fewer steps; the
    reason says what more time might bring.

    Args:
        config: What to choose from.
        task: The training samples, and how to run.
    """
    if task.session.devices * task.session.num_nodes > 1:
        raise ValueError("The automatic choice trains on one device; name an operator, like 'gola', to use several.")
    trial = Trial(config=config, task=task)
    every = {name: OPERATORS[name] for name in config.members}
    fitting = {name: kind for name, kind in every.items() if config.dim <= kind.config_type.largest_dim} or every
    kinds = {name: kind for name, kind in fitting.items() if kind.is_worth_trying(task)} or fitting
    trial.try_operators([name for name, kind in kinds.items() if kind.holds_out])
    groups = _groups(trial)
    if len(groups) > 1:
        return groups
    for name, kind in kinds.items():
        if not kind.holds_out:
            add_networks(trial, name)
    return concluded(trial)


def _groups(trial: Trial) -> list[tuple[int, ...]]:
    """Return groups of target channels that are about as hard to predict."""
    targets = trial.task.targets
    together = [tuple(range(len(targets)))]
    if not trial.operators or len(targets) == 1:
        return together
    best, _ = trial.candidates.best(trial.operators)
    if trial.operators[best].relates_targets:
        return together
    return channel_groups(trial.candidates.channel_errors(best), targets)


def concluded(trial: Trial) -> Chosen:
    """Keep the best single candidate, or the blend of all if it is clearly better."""
    if not trial.candidates.held_out:
        raise (
            trial.failures[0]
            if trial.failures
            else ValueError("There is nothing left to choose from; name an operator, like 'linear'.")
        )
    choice = trial.candidates.choice(*_amplitudes(trial), *_representation(trial), *trial.remarks)
    weights = dict(zip(choice.members, choice.weights, strict=True))
    ensembles = {name: trial.ensembles[name] for name in choice.members if name in trial.ensembles}
    needed = {*choice.members, *(ensemble.base for ensemble in ensembles.values())}
    return Chosen(
        operators={name: operator for name, operator in trial.operators.items() if name in needed},
        ensembles=ensembles,
        weights=weights,
        scaling=trial.scaling,
        held_out=trial.candidates.blended(weights),
        choice=choice,
    )


def _representation(trial: Trial) -> list[str]:
    """Say how far off solutions are as the best closed form expresses them."""
    names = [name for name in trial.operators if name in trial.candidates.held_out]
    if not names:
        return []
    best, _ = trial.candidates.best(names)
    error = trial.representation_errors[best]
    return [f"The representation of solutions by {best} alone leaves {error:.2g}."] if error > _EXACT else []


def _amplitudes(trial: Trial) -> list[str]:
    """Say with which inputs the operator was found to scale."""
    degrees = trial.preprocessing.homogeneity.degrees.tolist()
    names = [channel.name for channel in (*trial.task.inputs, *trial.task.parameters)]
    # Where there are neither, the only channel is the domain, which has no name.
    sources, media = (
        " and ".join(name for name, degree in zip(names, degrees, strict=False) if degree == wanted)
        for wanted in (1, -1)
    )
    how = " and ".join(filter(None, [sources and f"like {sources}", media and f"inversely to {media}"]))
    return [f"Solutions scale {how}."] if how else []
