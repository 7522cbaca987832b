"""Small fits for tests of what comes after fitting."""

from gola.data.dataset import Dataset
from gola.fitting.configs import config_for
from gola.fitting.training import train
from gola.problems import make_problem
from gola.protocol import FitTask, TrainingConfig
from gola.surrogate.fit import fit

TINY = {"gola": {"width": 8, "num_modes": 8, "num_heads": 1}, "linear": {"num_modes": 40}}


def small_data(num_samples=8, num_points=60, problem="eikonal"):
    """Samples of a problem, each at its own points."""
    made = make_problem(problem, resolution=16)
    whole = Dataset.from_samples(made.generate(0, range(num_samples)), inputs=made.inputs, targets=made.targets)
    return whole.subsample(num_points, seed=0)


def task_of(samples, channels=("f", "u"), **settings):
    """The task of fitting to samples, with the training loop at hand."""
    data = Dataset.from_samples(samples, inputs=channels[:1], targets=channels[1:])
    return FitTask.of(data, train=train, **settings)


def small_surrogate(operator="gola", data=None, num_epochs=3):
    """A surrogate that took no time, and is as good as that."""
    data = small_data() if data is None else data
    config = config_for(data, operator, **TINY.get(operator, {}))
    return fit(data, config, training=TrainingConfig(num_epochs=num_epochs, batch_size=4))
