"""One run: a fit and its evaluation, described by settings alone, so that it can be repeated and found again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from gola.data.dataset import Dataset
from gola.fitting import config_for, fit
from gola.surrogate import Surrogate
from gola.training import TrainingConfig


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Settings of one run.

    Attributes:
        data: The file of the data set.
        operator: Name of the operator, or name and preset: ``gola/paper``.
        settings: Changes to the preset.
        training: How to train, for networks.
        num_train: Number of training samples; None for all.
        num_test: Number of test samples; None for all others.
        num_points: Points to keep of each sample; None for all.
        seed: Decides which samples and points, and all that is random in fitting.
    """

    data: str
    operator: str = "gola"
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    num_train: int | None = None
    num_test: int | None = None
    num_points: int | None = None
    seed: int = 0

    def samples(self) -> tuple[Dataset, Dataset | None]:
        """Return training and test samples; no test samples where all are for training."""
        whole = Dataset.load(self.data)
        if self.num_train is None or self.num_train == len(whole):
            train, test = whole, None
        else:
            train, test = whole.split(self.num_train, self.num_test, seed=self.seed)
        if self.num_points is None:
            return train, test
        drawn = train.subsample(self.num_points, seed=self.seed)
        # Another seed: training and test samples of the same number should not share their points.
        return drawn, None if test is None else test.subsample(self.num_points, seed=self.seed + 1)

    def fit(self, data: Dataset, **options: Any) -> Surrogate:
        """Fit to these samples; see :func:`gola.fit` for the options."""
        config = config_for(data, self.operator, num_points=self.training.num_points, **self.settings)
        return fit(data, config, training=self.training, seed=self.seed, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**asdict(self), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunConfig":
        """Undo ``to_dict``."""
        known = {name.name for name in fields(cls)}
        return cls(
            **{name: value for name, value in values.items() if name in known and name != "training"},
            training=TrainingConfig.from_dict(values["training"]),
        )

    @property
    def name(self) -> str:
        """A short name that follows from the settings."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return f"{self.operator.replace('/', '-')}-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"

    def save(self, folder: Path) -> None:
        """Write the settings to a run's folder."""
        (folder / "run.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "RunConfig":
        """Read the settings of a run's folder."""
        path = folder / "run.json"
        if not path.exists():
            raise ValueError(f"{folder} is not the folder of a run: it has no run.json. `gola train` makes one.")
        return cls.from_dict(json.loads(path.read_text()))
