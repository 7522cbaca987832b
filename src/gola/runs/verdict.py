"""Which operator to use, in a sentence, and how sure that is."""

from collections.abc import Sequence

from gola.runs.comparison import NOTABLE, Summary, clearly_below, error_text

# The mean of the training solutions: an operator that does not beat it has learned nothing.
_BASELINE = "mean"


def verdict(summaries: Sequence[Summary]) -> str:
    """Say in a sentence or two which operator to use, and how sure that is."""
    sound = [summary for summary in summaries if not summary.failures]
    if not sound:
        return "No operator succeeded in all its runs, so none can be recommended."
    best, *others = sorted(sound, key=lambda summary: summary.mean)
    equals = [other for other in others if not clearly_below(best.errors, other.errors)]
    if len(best.errors) == 1:
        sentence = _from_one_seed(best, others)
    elif equals:
        sentence = _among_equals(best, equals)
    else:
        sentence = _clear(best, others)
    return sentence + _without_learning(best, others) + _excluded(summaries)


def _clear(best: Summary, others: Sequence[Summary]) -> str:
    if not others:
        return f"{best.operator} has the error {_error(best)}; compare it with other operators to judge it."
    second = others[0]
    return (
        f"Use {best.operator}: its error {_error(best)} is below {second.operator}'s {_error(second)} in"
        f" {_all_seeds(_num_common(best, second))}, {_cost(best, second)}."
    )


def _among_equals(best: Summary, equals: Sequence[Summary]) -> str:
    """Prefer the cheapest of those that the seeds cannot tell apart."""
    cheapest = min(equals, key=lambda summary: summary.fit_seconds)
    chosen, rival = (cheapest, best) if best.fit_seconds >= NOTABLE * cheapest.fit_seconds else (best, equals[0])
    return (
        f"Use {chosen.operator}: its error {_error(chosen)} and {rival.operator}'s {_error(rival)} cannot be"
        f" distinguished with {_num_common(chosen, rival)} seeds, {_cost(chosen, rival)}."
    )


def _from_one_seed(best: Summary, others: Sequence[Summary]) -> str:
    if not others:
        return (
            f"{best.operator} has the error {_error(best)} with one seed; compare it with other operators, and repeat"
            " with more seeds."
        )
    second = others[0]
    return (
        f"{best.operator} looks best: its error {_error(best)} is below {second.operator}'s {_error(second)},"
        f" {_cost(best, second)}; but one seed may be luck, so repeat with more of them."
    )


def _without_learning(best: Summary, others: Sequence[Summary]) -> str:
    """Warn where the mean of the training solutions is as good as the best."""
    baseline = next((summary for summary in (best, *others) if summary.operator == _BASELINE), None)
    if baseline is None or not others:
        return ""
    one_seed = len(best.errors) == 1
    if baseline is not best and (one_seed or clearly_below(best.errors, baseline.errors)):
        return ""
    return " None clearly beats the mean of the training solutions: nothing was learned from these samples."


def _excluded(summaries: Sequence[Summary]) -> str:
    failed = [summary.operator for summary in summaries if summary.failures]
    return f" Not considered, because of failed runs: {', '.join(failed)}." if failed else ""


def _all_seeds(count: int) -> str:
    return "both seeds" if count == 2 else f"all {count} seeds"


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
