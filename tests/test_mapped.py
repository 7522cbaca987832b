import numpy as np

from gola.mapped import Mapped, picked_rows


def test_items_are_made_when_they_are_asked_for():
    asked = []

    def doubled(item):
        asked.append(item)
        return 2 * item

    found = Mapped(doubled, [1, 2, 3])
    assert len(found) == 3
    assert asked == []
    assert found[1] == 4
    assert list(found[1:]) == [4, 6]
    assert asked == [2, 2, 3]


def test_rows_are_those_of_all_parts_together():
    rng = np.random.default_rng(0)
    parts = [rng.random((count, 2)) for count in (5, 0, 7, 3)]
    rows = rng.permutation(15)[:9]
    assert np.array_equal(picked_rows(parts, rows), np.concatenate(parts)[rows])
