import numpy as np
import pytest

import gola
from tests.fits import small_data


def scaled(data, inputs, targets):
    return gola.Dataset.from_arrays(
        [sample.points for sample in data],
        [inputs * sample.inputs for sample in data],
        [targets * sample.targets for sample in data],
    )


@pytest.mark.parametrize(("inputs", "targets"), [(1e160, 1.0), (1.0, 1e160), (1e-160, 1e-160), (1.0, 1e300)])
@pytest.mark.parametrize("operator", ["kernel", "gola"])
def test_the_size_of_numbers_does_not_matter(operator, inputs, targets, tmp_path):
    data = small_data(num_samples=6)
    large = scaled(data, inputs, targets)
    training = gola.TrainingConfig(num_epochs=1)
    plain, other = (gola.fit(one, operator, training=training, progress=False) for one in (data, large))
    for name, score in plain.scores.items():
        assert other.scores[name] == pytest.approx(score, rel=1e-6)
    assert gola.evaluate(other, large).mean == pytest.approx(gola.evaluate(plain, data).mean, rel=1e-6)
    other.save(tmp_path / "large.gola")
    sample = large[0]
    predicted = gola.Surrogate.load(tmp_path / "large.gola").predict(sample.points, sample.inputs)
    assert np.array_equal(predicted, other.predict(sample.points, sample.inputs))
