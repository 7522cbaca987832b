"""One case: damage a copy of a valid file, load it, and judge what happened."""

import shutil
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.fuzz.damage import BYTE_DAMAGES
from benchmarks.fuzz.edits import EDITS
from benchmarks.fuzz.specimens import Specimen

VERDICTS = ("clean error", "no effect", "different", "traceback", "hang", "memory", "crash")
# How often what a file says is edited; else its bytes are damaged.
_SHARE_OF_EDITS = 0.4


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What happened in one case.

    Attributes:
        case: Its number, which with the seed decides it.
        kind: Kind of file.
        damage: How the file was damaged; ``forged`` where its checksum was made to fit, so that it is another valid
            file, or a valid file of nonsense.
        verdict: One of :data:`VERDICTS`.
        message: The error.
    """

    case: int
    kind: str
    damage: str
    verdict: str
    message: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether this must not happen: other formats have no checksum, and what is forged may be valid."""
        if self.verdict == "different":
            return self.kind in ("h5", "gola", "checkpoint", "run") and self.damage != "forged"
        return self.verdict not in ("clean error", "no effect")


def chosen(specimens: Sequence[Specimen], case: int, seed: int) -> tuple[Specimen, str, np.random.Generator]:
    """Return the file of a case, how it is damaged, and what decides the rest."""
    rng = np.random.default_rng([seed, case])
    kinds = list(dict.fromkeys(specimen.kind for specimen in specimens))
    alike = [specimen for specimen in specimens if specimen.kind == kinds[case % len(kinds)]]
    specimen = alike[rng.integers(len(alike))]
    if rng.random() < _SHARE_OF_EDITS:
        return specimen, "forged" if specimen.ours and rng.random() < 0.5 else "edit", rng
    return specimen, list(BYTE_DAMAGES)[rng.integers(len(BYTE_DAMAGES))], rng


def run_case(specimens: Sequence[Specimen], expected: Sequence[str], case: int, seed: int, scratch: Path) -> Outcome:
    """Damage, load and judge.

    Args:
        specimens: Valid files.
        expected: What reading each of them gives.
        case: Number of the case.
        seed: Seed of all cases.
        scratch: An empty folder for the damaged file.
    """
    specimen, damage, rng = chosen(specimens, case, seed)
    copy = _copied(specimen, scratch)
    if damage in BYTE_DAMAGES:
        copy.write_bytes(BYTE_DAMAGES[damage](copy.read_bytes(), rng))
    else:
        EDITS[specimen.kind](copy, rng, damage == "forged")
    verdict, message = _judged(specimen, copy, expected[specimens.index(specimen)])
    return Outcome(case=case, kind=specimen.kind, damage=damage, verdict=verdict, message=message)


def _copied(specimen: Specimen, scratch: Path) -> Path:
    if specimen.kind == "run":
        shutil.copytree(specimen.path.parent, scratch / "run")
        return scratch / "run" / specimen.path.name
    return Path(shutil.copy(specimen.path, scratch))


def _judged(specimen: Specimen, copy: Path, expected: str) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = specimen.read(copy)
    except ValueError as error:
        return "clean error", str(error)
    except MemoryError:
        return "memory", traceback.format_exc()
    except Exception:  # whatever else comes is what we look for
        return "traceback", traceback.format_exc()
    return ("no effect", "") if found == expected else ("different", "")
