from dataclasses import replace

from paper.ablation.figure import ablation_picture
from paper.ablation.page import write_ablation
from paper.ablation.variants import VARIANTS
from paper.cells import run_of
from paper.protocol import Protocol
from tests.paper.examples import made_row, made_store


def store_of(errors):
    """A store with an error by seed for each variant on Darcy flow from 30 samples."""
    empty = made_store(lambda _cell, _seed: None)
    rows = []
    for name, by_seed in errors.items():
        cell = VARIANTS[name].cell("darcy", 30, Protocol())
        for seed, error in enumerate(by_seed):
            row = made_row(run_of(cell, empty.protocol, empty.budget, empty.data, seed), error)
            rows.append(replace(row, variant=cell.variant))
    return replace(empty, rows=tuple(rows))


def test_variants_with_a_result_stand_in_their_order_with_mean_spread_and_number(tmp_path):
    store = store_of({"auto": [0.1], "gola": [0.2, 0.4], "spectral, L-BFGS at the end": [0.3]})
    page = write_ablation(store, tmp_path).read_text()
    first, *_ = page.split("| 100 samples")
    rows = [line.split(" | ")[:2] for line in first.splitlines() if line.startswith("| ")]
    assert rows == [
        ["| 30 samples", "Darcy flow"],
        ["| ---", "---"],
        ["| *the paper's GOLA*", "*0.1554*"],
        ["| *the goal*", "*0.065*"],
        ["| gola", "0.3000 ± 0.1414 (2)"],
        ["| spectral, L-BFGS at the end", "0.3000 (1)"],
        ["| auto", "0.1000 (1)"],
    ]


def test_the_figure_can_be_drawn_with_and_without_results():
    for errors in ({"auto": [0.1, 0.2], "spectral": [0.3]}, {}):
        assert ablation_picture(store_of(errors)).png.startswith(b"\x89PNG")
