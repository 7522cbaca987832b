"""One run: a fit and its evaluation, described by settings alone, so that it can be repeated and found again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.files import read_json, write_json
from gola.fitting.configs import config_for
from gola.protocol import TrainingConfig
from gola.registry import OPERATORS
from gola.runs.fingerprints import fingerprint_of
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate

RUN_FILE = "run.json"
"""Holds the settings in the folder of a run."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Settings of one run.

    Attributes:
        data: The file of the data set.
        operator: Name of the operator, or name and preset: ``gola/paper``.
        settings: Changes to the preset.
        training: How to train, for networks.
        num_train: Number of training samples; None for all but ``num_test``.
        num_test: Number of test samples; None for all others.
        num_points: Points to keep of each sample; None for all.
        whole_training: Whether training samples keep all their points, for ``training.points_per_epoch`` to draw from;
            num_points is then the number of points of test samples.
        test_points: Further numbers of points at which to evaluate, drawn from the test samples with all their points.
        num_folds: Folds that the training samples are split into, for cross-validation; None for none.
        fold: The fold that is held out, from 0: the run fits to the others, is evaluated on this one, and never
            touches the test samples.
        seed: Random seed of split, subsampling and initialisation.
    """

    data: str
    operator: str = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    num_train: int | None = None
    num_test: int | None = None
    num_points: int | None = None
    whole_training: bool = False
    test_points: tuple[int, ...] = ()
    num_folds: int | None = None
    fold: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        self._require_types()
        # JSON knows lists only, and a run read back from a file equals the one that was written.
        settings = {name: tuple(value) if isinstance(value, list) else value for name, value in self.settings.items()}
        object.__setattr__(self, "settings", settings)
        if (self.num_folds is None) != (self.fold is None):
            raise ValueError(f"num_folds and fold go together; got {self.num_folds} and {self.fold}.")
        if self.num_folds is not None and self.fold is not None and not 0 <= self.fold < self.num_folds >= 2:
            raise ValueError(
                f"Cross-validation needs at least 2 folds, numbered from 0; got fold {self.fold} of {self.num_folds}."
            )
        if self.seed < 0:
            raise ValueError(f"seed must not be negative; got {self.seed}.")

    def samples(self) -> tuple[Dataset, Dataset | None]:
        """Return the training samples and the test samples; None for the latter where all are for training."""
        train, test = self.whole_samples()
        return self._train_points(train), None if test is None else self._test_points(test, self.num_points)

    def whole_samples(self) -> tuple[Dataset, Dataset | None]:
        """Return the same samples with all their points."""
        whole = Dataset.load(self.data)
        num_train = len(whole) - (self.num_test or 0) if self.num_train is None else self.num_train
        if num_train == len(whole):
            train, test = whole, None
        else:
            train, test = whole.split(num_train, self.num_test, seed=self.seed)
        return (train, test) if self.fold is None else self._fold_of(train)

    def samples_by_points(self) -> tuple[Dataset, dict[int | None, Dataset]]:
        """Return the training samples and, for each number of points to evaluate at, the test samples."""
        train, test = self.whole_samples()
        if test is None:
            raise ValueError(
                f"All {len(train)} samples of {self.data} are for training and none is left for testing; choose a"
                " smaller num_train."
            )
        numbers = dict.fromkeys((self.num_points, *self.test_points))
        return self._train_points(train), {number: self._test_points(test, number) for number in numbers}

    def fit(self, data: Dataset, **options: Any) -> Surrogate:
        """Fit to these samples; see :func:`gola.fit` for the options."""
        config = config_for(data, self.operator, num_points=self.training.points_per_epoch, **self.settings)
        return fit(data, config, training=self.training, seed=self.seed, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = {"settings": dict(self.settings), "training": self.training.to_dict()}
        return {**asdict(self), **plain, "test_points": list(self.test_points)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunConfig":
        """Undo ``to_dict``."""
        known = {name.name for name in fields(cls)} - {"training", "test_points"}
        return cls(
            **{name: value for name, value in values.items() if name in known},
            training=TrainingConfig.from_dict(values["training"]),
            test_points=tuple(values.get("test_points", ())),
        )

    def identity(self, fingerprint: str) -> str:
        """Return a hash of all that decides the result: the settings, and the content of the data.

        The path of the data does not count, nor do training settings that the operator ignores.

        Args:
            fingerprint: That of the data set.
        """
        name, _, preset = self.operator.partition("/")
        decisive = {**self.to_dict(), "data": fingerprint, "operator": f"{name}/{preset or 'default'}"}
        if not self.heeds("training"):
            del decisive["training"]
        if not self.whole_training:
            del decisive["whole_training"]  # so that runs from before there was a choice keep their names
        text = json.dumps(decisive, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    def heeds(self, setting: str) -> bool:
        """Whether the operator reads a setting of the task besides samples and seed: ``"training"``, ``"session"``."""
        return setting in OPERATORS[self.operator.partition("/")[0]].heeds

    @property
    def label(self) -> str:
        """The run in a few words, for messages."""
        usual = TrainingConfig().to_dict()
        changes = {name: value for name, value in self.training.to_dict().items() if value != usual.get(name)}
        words = {**self.settings, **(changes if self.heeds("training") else {})}
        settings = "".join(f" {name}={as_text(value)}" for name, value in words.items())
        fold = "" if self.num_folds is None else f", fold {(self.fold or 0) + 1} of {self.num_folds}"
        return f"{self.operator}{settings}, seed {self.seed}{fold}"

    @property
    def name(self) -> str:
        """A short name that follows from the settings and the content of the data."""
        operator = self.operator.replace("/", "-")
        return f"{operator}-{self.num_train or 'all'}x{self.num_points or 'all'}-{self.seed}-{self._hash}"

    @property
    def _hash(self) -> str:
        return self.identity(fingerprint_of(self.data))

    def save(self, folder: Path) -> None:
        """Write the settings to a run's folder."""
        write_json(folder / RUN_FILE, self.to_dict())

    @classmethod
    def load(cls, folder: Path) -> "RunConfig":
        """Read the settings of a run's folder.

        Raises:
            ValueError: If the folder has none, or they are damaged.
        """
        path = folder / RUN_FILE
        if not path.exists():
            raise ValueError(f"{folder} is not the folder of a run: it has no {RUN_FILE}. `gola train` makes one.")
        values = read_json(path, "the settings of a run")
        try:
            return cls.from_dict(values)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
            raise ValueError(f"{path} does not hold the settings of a run: {reason}. Make the run again.") from error

    def _require_types(self) -> None:
        for name in ("data", "operator"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a text; got {getattr(self, name)!r}.")
        for name in ("num_train", "num_test", "num_points", "num_folds", "fold", "seed"):
            value = getattr(self, name)
            if not (_is_whole(value) or (value is None and name != "seed")):
                raise ValueError(f"{name} must be a whole number; got {value!r}.")
        if not all(map(_is_whole, self.test_points)):
            raise ValueError(f"test_points must be whole numbers; got {self.test_points!r}.")
        if not isinstance(self.settings, Mapping):
            raise ValueError(f"settings must be values by name; got {self.settings!r}.")

    def _fold_of(self, train: Dataset) -> tuple[Dataset, Dataset]:
        """Split the training samples into folds, and hold one of them out."""
        assert self.num_folds is not None
        assert self.fold is not None
        if self.num_folds > len(train):
            raise ValueError(f"Cannot split {len(train)} training samples into {self.num_folds} folds; ask for fewer.")
        folds = np.array_split(np.random.default_rng(self.seed).permutation(len(train)), self.num_folds)
        held_out = folds.pop(self.fold)
        return train.select(np.concatenate(folds).tolist()), train.select(held_out.tolist())

    def _train_points(self, data: Dataset) -> Dataset:
        if self.num_points is None or self.whole_training:
            return data
        return data.subsample(self.num_points, seed=self.seed)

    def _test_points(self, data: Dataset, num_points: int | None) -> Dataset:
        # Another seed: the first training sample and the first test sample should not share their points.
        return data if num_points is None else data.subsample(num_points, seed=self.seed + 1)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def as_text(value: Any) -> str:
    """Write the value of a setting for people, a tuple with commas."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
