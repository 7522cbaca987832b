from dataclasses import replace

from gola.runs import RunConfig, code_version
from paper.plan import Planned, missing, progress, seconds_left
from tests.paper.examples import made_row

RUN = RunConfig(data="data/darcy.h5", operator="gcn", settings={"radius": 0.00944881}, num_train=5, num_test=4)


def planned(seconds=60.0, row=None):
    return Planned(run=RUN, row=row, seconds=seconds)


def test_a_run_says_whether_it_is_done_and_by_which_code():
    assert planned().state == "to do"
    assert planned(row=made_row(RUN, 0.1, code_version="old")).state == "done by older code"
    assert planned(row=made_row(RUN, 0.1, code_version=code_version(RUN.operator))).state == "done"


def test_an_unknown_time_counts_like_the_mean_of_the_others():
    lines = [planned(10.0), planned(30.0), planned(None), planned(500.0, row=made_row(RUN, 0.1))]
    assert len(missing(lines)) == 3
    assert seconds_left(lines) == 60.0
    assert seconds_left([planned(None)]) is None
    assert seconds_left([]) == 0.0


def test_progress_is_said_in_a_sentence():
    done = planned(row=made_row(RUN, 0.1))
    assert progress([done, planned(7200.0)]) == "1 of 2 runs are done; the others take ≈ 2.0 h on one core."
    assert progress([done]) == "1 of 1 runs are done."


def test_the_label_names_changes_and_variant():
    line = replace(planned(), variant="L-BFGS at the end")
    assert (line.problem, line.label) == ("darcy", "gcn radius=0.00945 (L-BFGS at the end)")
