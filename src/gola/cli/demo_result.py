"""What came out of ``gola demo``, in words and numbers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paper.published import TABLE_1

if TYPE_CHECKING:
    from gola.runs import RunConfig
    from gola.surrogate.evaluation import Evaluation
    from gola.surrogate.surrogate import Surrogate

# Darcy flow, 30 training samples. The paper's GOLA sees 1000 points, its FNO the full grid.
PAPER = {name: TABLE_1["darcy"][name] for name in ("gola", "fno")}
_PAPER_SIZES = (30, 1000)

HEADING = ("operator", "test error", "paper", "fit [s]", "predict [ms]", "parameters")


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """One operator of the comparison.

    Attributes:
        config: The run.
        surrogate: What was fitted.
        evaluation: Its errors on the test samples.
        reused: Whether the surrogate is from an earlier call.
    """

    config: "RunConfig"
    surrogate: "Surrogate"
    evaluation: "Evaluation"
    reused: bool = False

    @property
    def name(self) -> str:
        """Name of the operator."""
        return self.config.operator

    @property
    def fit_seconds(self) -> float:
        """Time to fit; the history of a training that was resumed knows the time before the interruption."""
        history = self.surrogate.provenance.get("history", [])
        return float(history[-1]["seconds"] if history else self.surrogate.provenance["seconds"])


def result_rows(entries: list[Entry]) -> list[list[str]]:
    """Return the comparison, a row for each operator below :data:`HEADING`, and one for what is the paper's alone."""
    rows = [
        [
            entry.name,
            f"{entry.evaluation.mean:.4f} ± {entry.evaluation.errors.std():.4f}",
            f"{PAPER[entry.name]:.4f}" if entry.name in PAPER else "–",
            f"{entry.fit_seconds:.1f}",
            f"{1000 * entry.evaluation.seconds:.1f}",
            f"{entry.surrogate.operator.num_parameters:,}",
        ]
        for entry in entries
    ]
    return [*rows, ["FNO, full grid", "–", f"{PAPER['fno']:.4f}", "–", "–", "–"]]


def verdict(entries: list[Entry]) -> str:
    """Say who is ahead, by how much, and on how many samples."""
    best, other = sorted(entries, key=lambda entry: entry.evaluation.mean)
    small, large = best.evaluation, other.evaluation
    wins = int((small.errors < large.errors).sum())
    return (
        f"{best.name} is ahead: its mean error is {small.mean:.4f}, that of {other.name} {large.mean:.4f}, which is"
        f" {large.mean / small.mean:.1f} times as much, and it is the better one on {wins} of {len(small.errors)} test"
        " samples."
    )


def reason(entries: list[Entry]) -> str:
    """Say what the verdict means for other problems."""
    best = min(entries, key=lambda entry: entry.evaluation.mean)
    facts = (
        "The coefficient of this problem is the same in all samples, so the solution depends linearly on the source,"
        " and an operator that is linear by construction has far less to learn."
    )
    if best.name == "linear":
        return (
            f"{facts} Where the solution is no linear function of the input, this advantage goes: compare on your data."
        )
    return f"{facts} That {best.name} is ahead all the same is worth a second look, with other seeds."


def beside_the_paper(entries: list[Entry]) -> str:
    """Say how the errors compare with the published ones, and how far that comparison goes."""
    config = entries[0].config
    places = " and ".join(f"{entry.name} is {_place(entry.evaluation.mean)}" for entry in entries)
    text = (
        f"The paper reports {PAPER['gola']:.4f} for its GOLA at 1000 points and {PAPER['fno']:.4f} for an FNO that sees"
        f" the full 128 × 128 grid, both from 30 samples. Here {places}."
    )
    if (config.num_train, config.num_points) != _PAPER_SIZES:
        return f"{text} But this run had {config.num_train} samples at {config.num_points} points: not the same task."
    return (
        f"{text} The paper's data, code and length of training are not public: this is the same problem by its"
        f" definition, one draw of training samples, and {config.training.num_steps} steps of training for gola."
    )


def _place(error: float) -> str:
    if error < min(PAPER.values()):
        return "below both"
    return "above both" if error > max(PAPER.values()) else "between the two"
