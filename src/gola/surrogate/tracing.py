"""What a function of few tensors computes, as a graph of plain operations with everything else worked out before."""

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx

from gola.recording import own_operations


def traced(function: Callable[..., Tensor], *examples: Tensor) -> fx.GraphModule:
    """Record the operations of a function, for arguments of the shapes of the examples.

    Whatever does not depend on the arguments, such as neighbours, cells and factors of matrices, is a constant of the
    graph. Choices that depend on the values of arguments are those of the examples.
    """
    with own_operations(), torch.no_grad():
        graph = make_fx(function, tracing_mode="real", _error_on_data_dependent_ops=False)(*examples)
    _fold_constants(graph)
    return graph


def _fold_constants(graph: fx.GraphModule) -> None:
    """Work out every operation that does not depend on the arguments, in their order: some change others in place."""
    known: dict[fx.Node, Any] = {}
    written = _written_by_others(graph)

    def values(arguments: Any) -> Any:
        return fx.node.map_arg(arguments, known.__getitem__)

    for node in graph.graph.nodes:
        if node.op == "get_attr":
            known[node] = getattr(graph, node.target)
        elif node.op == "call_function" and node not in written and all(one in known for one in node.all_input_nodes):
            with torch.no_grad():
                known[node] = node.target(*values(node.args), **values(node.kwargs))
    for number, (node, value) in enumerate(known.items()):
        if isinstance(value, Tensor) and node.op == "call_function" and any(user not in known for user in node.users):
            _put_constant(graph, node, f"constant_{number}", value)
    # Changes in place of constants have no users, and still are not taken for dead code.
    for node in reversed(known):
        if not node.users:
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    for node in graph.graph.find_nodes(op="get_attr"):
        # Constants that are parts of others are written badly.
        own = getattr(graph, node.target).detach().clone(memory_format=torch.contiguous_format)
        delattr(graph, node.target)
        graph.register_buffer(node.target, own)
    graph.recompile()


def _written_by_others(graph: fx.GraphModule) -> set[fx.Node]:
    """Return the nodes without arguments whose memory is changed in place by nodes that depend on arguments."""
    depends: set[fx.Node] = set()
    written: set[fx.Node] = set()
    for node in graph.graph.nodes:
        if node.op == "placeholder" or any(one in depends for one in node.all_input_nodes):
            depends.add(node)
            schema = getattr(node.target, "_schema", None)
            if schema is not None and schema.is_mutable:
                written |= _memory_of(node.args[0])
    return written


def _memory_of(node: Any) -> set[fx.Node]:
    """Return a node and those that it is a view of."""
    found = {node}
    while node.target is operator.getitem or any(one.alias_info for one in _returns(node)):
        node = node.args[0]
        found.add(node)
    return found


def _returns(node: fx.Node) -> list[Any]:
    schema = getattr(node.target, "_schema", None)
    return [] if schema is None else list(schema.returns)


def _put_constant(graph: fx.GraphModule, node: fx.Node, name: str, value: Tensor) -> None:
    graph.register_buffer(name, value)
    with graph.graph.inserting_before(node):
        constant = graph.graph.get_attr(name)
    node.replace_all_uses_with(constant)


def with_common_operations(graph: fx.GraphModule) -> fx.GraphModule:
    """Put plain operations in place of those that other programs do not know."""
    aten = torch.ops.aten
    for node in list(graph.graph.find_nodes(op="call_function", target=aten.linalg_solve_triangular.default)):
        factor, right = node.args[:2]
        known = getattr(graph, factor.target)
        identity = torch.eye(len(known)).to(known)
        solved = torch.linalg.solve_triangular(known, identity, upper=node.kwargs["upper"])
        graph.register_buffer(f"inverse_{node.name}", solved)
        with graph.graph.inserting_before(node):
            inverse = graph.graph.get_attr(f"inverse_{node.name}")
            node.replace_all_uses_with(graph.graph.call_function(aten.mm.default, (inverse, right)))
    for node in list(graph.graph.find_nodes(op="call_function", target=aten._cdist_forward.default)):
        with graph.graph.inserting_before(node):
            rows, columns = (
                graph.graph.call_function(aten.unsqueeze.default, (one, axis))
                for one, axis in zip(node.args[:2], (1, 0), strict=True)
            )
            differences = graph.graph.call_function(aten.sub.Tensor, (rows, columns))
            squares = graph.graph.call_function(aten.mul.Tensor, (differences, differences))
            sums = graph.graph.call_function(aten.sum.dim_IntList, (squares, [2]))
            node.replace_all_uses_with(graph.graph.call_function(aten.sqrt.default, (sums,)))
    for name, constant in list(graph.named_buffers()):
        # Indices are wide elsewhere.
        setattr(graph, name, constant.long() if constant.dtype == torch.int32 else constant)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph
