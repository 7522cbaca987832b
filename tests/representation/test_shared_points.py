import copy
import pickle

import torch

from gola.representation.shared_points import Recent, runs


def test_only_samples_in_a_row_share_work():
    here, there = torch.zeros(3, 2), torch.ones(3, 2)
    assert runs([here, here.clone(), there, here]) == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert runs([torch.zeros(2, 2), torch.zeros(3, 2)]) == [slice(0, 1), slice(1, 2)]
    assert runs([]) == []


def test_what_was_made_of_the_last_points_is_made_once():
    made, recent = [], Recent()

    def make():
        made.append(None)
        return len(made)

    points, other = torch.rand(5, 2), torch.ones(3)
    assert [recent.of(make, points, other), recent.of(make, points.clone(), other)] == [1, 1]
    assert recent.of(make, points + 1.0, other) == 2
    assert recent.of(make, points + 1.0, other.clone()) == 3


def test_points_that_the_caller_writes_over_are_other_points():
    recent, points = Recent(), torch.rand(5, 2)
    recent.of(lambda: "before", points)
    points += 1.0
    assert recent.of(lambda: "after", points) == "after"


def test_what_is_kept_is_neither_copied_nor_saved():
    recent, points = Recent(), torch.rand(5, 2)
    recent.of(lambda: "first", points)
    for copied in (copy.deepcopy(recent), pickle.loads(pickle.dumps(recent))):
        assert copied.of(lambda: "second", points) == "second"
