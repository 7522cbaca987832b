"""Which operator to use, in a sentence, and how sure that is."""

from collections.abc import Sequence

from gola.runs.comparison import NOTABLE, Summary, clearly_below, error_text

# The mean of the training solutions: whoever does not beat it has learned nothing.
_NOTHING_LEARNED = "mean"


def verdict(summaries: Sequence[Summary]) -> str:
    """Say in a sentence or two which operator to use, and how sure that is."""
    sound = [summary for summary in summaries if not summary.failures]
    if not sound:
        return "No operator has come through all its runs, so there is nothing to say about which one to use."
    best, *others = sorted(sound, key=lambda summary: summary.mean)
    equals = [other for other in others if not clearly_below(best.errors, other.errors)]
    if len(best.errors) == 1:
        sentence = _from_one_seed(best, others)
    elif equals:
        sentence = _among_equals(best, equals)
    else:
        sentence = _clear(best, others)
    return sentence + _without_learning(best, others) + _held_out(summaries)


def _clear(best: Summary, others: Sequence[Summary]) -> str:
    if not others:
        return f"{best.operator} has the error {_error(best)}; compare it with others to know what that is worth."
    second = others[0]
    return (
        f"Use {best.operator}: its error {_error(best)} is below {second.operator}'s {_error(second)} in all"
        f" {_num_common(best, second)} seeds, {_cost(best, second)}."
    )


def _among_equals(best: Summary, equals: Sequence[Summary]) -> str:
    """Prefer the cheapest of those that the seeds cannot tell apart."""
    cheapest = min(equals, key=lambda summary: summary.fit_seconds)
    chosen, rival = (cheapest, best) if best.fit_seconds >= NOTABLE * cheapest.fit_seconds else (best, equals[0])
    return (
        f"Use {chosen.operator}: its error {_error(chosen)} and {rival.operator}'s {_error(rival)} cannot be told apart"
        f" by {_num_common(chosen, rival)} seeds, {_cost(chosen, rival)}."
    )


def _from_one_seed(best: Summary, others: Sequence[Summary]) -> str:
    if not others:
        return f"{best.operator} has the error {_error(best)} with one seed, which does not tell luck from skill."
    second = others[0]
    return (
        f"{best.operator} looks best: its error {_error(best)} is below {second.operator}'s {_error(second)},"
        f" {_cost(best, second)}; but this is one seed, and more of them (--seeds 3) tell luck from skill."
    )


def _without_learning(best: Summary, others: Sequence[Summary]) -> str:
    """Warn where the mean of the training solutions does as well as the best."""
    idle = next((summary for summary in (best, *others) if summary.operator == _NOTHING_LEARNED), None)
    if idle is None or not others:
        return ""
    one_seed = len(best.errors) == 1
    if idle is not best and (one_seed or clearly_below(best.errors, idle.errors)):
        return ""
    return " None clearly beats the mean of the training solutions: from these samples nothing was learned."


def _held_out(summaries: Sequence[Summary]) -> str:
    failed = [summary.operator for summary in summaries if summary.failures]
    return f" Left out, because of failed runs: {', '.join(failed)}." if failed else ""


def _num_common(first: Summary, second: Summary) -> int:
    return len(set(first.errors) & set(second.errors))


def _error(summary: Summary) -> str:
    return error_text(summary.mean, summary.spread)


def _cost(chosen: Summary, other: Summary) -> str:
    """Compare the times to fit, as the end of a sentence."""
    ratio = other.fit_seconds / max(chosen.fit_seconds, 1e-9)
    if ratio >= NOTABLE:
        return f"and it fits {_times(ratio)} faster"
    if ratio <= 1 / NOTABLE:
        return f"though {other.operator} fits {_times(1 / ratio)} faster"
    return "and both take about as long to fit"


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times"
