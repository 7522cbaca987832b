import numpy as np
import pytest
import torch

from gola.surrogate.tracing import traced
from tests.operators.test_battery import NAMES
from tests.surrogate.test_differentiable import surrogate_of

AT = 0.1 + 0.8 * np.random.default_rng(1).random((3, 2))


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_of_plain_operations_predicts_other_inputs(name):
    surrogate, sample = surrogate_of(name)
    module, points, at = surrogate.differentiable(), torch.from_numpy(sample.points), torch.from_numpy(AT)
    given = torch.from_numpy(sample.inputs), torch.from_numpy(sample.parameters)
    graph = traced(lambda inputs, parameters: module(points, inputs, parameters, at), *given)
    assert {node.op for node in graph.graph.nodes} <= {"placeholder", "get_attr", "call_function", "output"}
    close(graph(1.1 * given[0], 0.95 * given[1]).numpy(), module(points, 1.1 * given[0], 0.95 * given[1], at).numpy())


def exported(name, path):
    surrogate, sample = surrogate_of(name)
    surrogate.export(path, sample.points, sample.inputs, parameters=sample.parameters, at=AT)
    inputs, parameters = 1.1 * sample.inputs, 0.95 * sample.parameters
    return inputs, parameters, surrogate.predict(sample.points, inputs, parameters=parameters, at=AT)


@pytest.mark.parametrize("name", ["kernel", "spectral"])
def test_torch_runs_an_exported_program(name, tmp_path):
    inputs, parameters, expected = exported(name, tmp_path / "x.pt2")
    program = torch.export.load(tmp_path / "x.pt2").module()
    close(program(torch.from_numpy(inputs), torch.from_numpy(parameters)).numpy(), expected)


@pytest.mark.parametrize("name", ["kernel", "spectral"])
def test_the_onnx_runtime_runs_an_exported_program(name, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    inputs, parameters, expected = exported(name, tmp_path / "x.onnx")
    session = runtime.InferenceSession(tmp_path / "x.onnx")
    close(session.run(None, {"inputs": inputs, "parameters": parameters})[0], expected)


def test_only_two_kinds_of_files_can_be_written(tmp_path):
    surrogate, sample = surrogate_of("mean")
    with pytest.raises(ValueError, match=r"\*\.pt2 \(torch\.export\) or \*\.onnx; got x\.exe"):
        surrogate.export(tmp_path / "x.exe", sample.points, sample.inputs)
    with pytest.raises(ValueError, match="inputs, parameters, or both"):
        surrogate.export(tmp_path / "x.pt2", sample.points)
