import torch

from gola.operators.closed_form.scores import Probes
from gola.operators.linear.green import InputFunctions, kernel_at
from gola.operators.linear.search import _GreenSearch, _near, _Shape
from gola.representation.function_space import FunctionSpace

CORNERS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
WIDE, NARROW = (_Shape(widths=(width, width), window="gaussian") for width in (0.5, 0.1))


def random_numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def search():
    functions = InputFunctions.of(FunctionSpace.around(CORNERS, padding=1.25, num_modes=15), random_numbers(6, 1, 15))
    probes = Probes(
        fractions=torch.rand(12, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64),
        values=random_numbers(12, 6, 1, seed=1),
        scales=torch.ones(1).double(),
    )
    return _GreenSearch(functions=functions, probes=probes, groups=None)


def test_what_a_few_places_needed_is_not_computed_again():
    found = search()
    found.quick.best_of([WIDE], _near(1e-3))
    component = WIDE.components[0]
    expected = kernel_at(found.functions, [component], found.probes.fractions)
    torch.testing.assert_close(found._kernel(component), expected)


def test_shapes_that_a_few_places_speak_against_are_not_looked_at():
    found = search()
    best = min(found.best_of([shape], _near(1e-3)) for shape in (WIDE, NARROW))
    quick = {shape: found.quick.best_of([shape], _near(best.penalty)).error for shape in (WIDE, NARROW)}
    expected = [shape for shape in (WIDE, NARROW) if quick[shape] < quick[best.shape]]
    assert found._promising(best, [WIDE, NARROW]) == expected
    assert best.shape not in expected
