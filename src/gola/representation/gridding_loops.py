"""The compiled loops behind :mod:`gola.representation.gridding`.

They are written for LLVM, which compiles them in a few hundredths of a second when they are first needed; to compile
the same from Python, or only to read what was compiled before, takes Numba 0.3 seconds in every program. The 16 nodes
under a bump are one vector of LLVM, which every processor takes in as many registers as it needs.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from llvmlite import binding, ir
from torch import Tensor

WIDTH = 16
"""Number of nodes under a bump along an axis."""
DEGREE = 20
"""Of the polynomials that give its weights."""

_NUMBER, _COUNT, _LANE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_NUMBER, WIDTH)
_ARRAY = _NUMBER.as_pointer()


def spread(angles: Tensor, values: Tensor, polynomials: Tensor, grid: Tensor, per_radian: float) -> None:
    """Add the values at points to the nodes around them.

    Args:
        angles: Of the points, two each, between −π and 2π: others would lead out of memory.
        values: At the points, a row each.
        polynomials: The weights of the nodes under a bump, a column each, from the highest power on.
        grid: Values at the nodes, a square for each column of the values.
        per_radian: Number of nodes in a unit of the angle.
    """
    _run("spread", angles, values, polynomials, grid, per_radian)


def interpolate(angles: Tensor, values: Tensor, polynomials: Tensor, grid: Tensor, per_radian: float) -> None:
    """Set the values at points by those at the nodes around them; arguments as those of :func:`spread`."""
    _run("interpolate", angles, values, polynomials, grid, per_radian)


def _run(name: str, angles: Tensor, values: Tensor, polynomials: Tensor, grid: Tensor, per_radian: float) -> None:
    addresses = (tensor.data_ptr() for tensor in (angles, values, polynomials, grid))
    functions = _functions()  # held while one of them runs: two threads may compile at once, and one is not kept
    functions[name](*addresses, len(angles), len(grid), grid.shape[-1], per_radian)


@cache
def _functions() -> dict[str, Any]:
    """Compile both loops for this machine."""
    module = ir.Module()
    _write(module, "spread", _Loop.spread)
    _write(module, "interpolate", _Loop.interpolate)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3
    )
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    engine.finalize_object()
    kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 3 + [ctypes.c_double]
    prototype = ctypes.CFUNCTYPE(None, *kinds)
    functions: dict[str, Any] = {
        name: prototype(engine.get_function_address(name)) for name in ("spread", "interpolate")
    }
    # Functions live as long as what compiled them.
    functions["engine"] = engine
    return functions


def _write(module: ir.Module, name: str, body: Callable[["_Loop", Any, Any], None]) -> None:
    """Write the loop over points and channels; what is done for each is the body."""
    kinds = [_ARRAY] * 4 + [_COUNT] * 3 + [_NUMBER]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    builder = ir.IRBuilder(function.append_basic_block())
    angles, values, polynomials, grid, num_points, num_channels, stride, per_radian = function.args
    with _counted(builder, num_points) as point:
        loop = _Loop(builder=builder, polynomials=polynomials, grid=grid, stride=stride)
        places = [
            builder.fmul(_at(builder, angles, builder.add(builder.mul(point, _COUNT(2)), _COUNT(axis))), per_radian)
            for axis in range(2)
        ]
        (row, along), (column, across) = (loop.weights(place) for place in places)
        weights = [builder.extract_element(along, _LANE(lane)) for lane in range(WIDTH)]
        first = builder.add(builder.mul(row, stride), column)
        with _counted(builder, num_channels) as channel:
            start = builder.add(first, builder.mul(channel, builder.mul(stride, stride)))
            value = builder.gep(values, [builder.add(builder.mul(point, num_channels), channel)])
            body(loop, value, _Around(start=start, along=weights, across=across))
    builder.ret_void()


@contextmanager
def _counted(builder: Any, count: Any) -> Iterator[Any]:
    """Write a loop that counts up to, but without, a number; it may be zero."""
    before = builder.block
    head, inside, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    number = builder.phi(_COUNT)
    number.add_incoming(_COUNT(0), before)
    builder.cbranch(builder.icmp_signed("<", number, count), inside, after)
    builder.position_at_end(inside)
    yield number
    number.add_incoming(builder.add(number, _COUNT(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


@final
@dataclass(frozen=True, kw_only=True)
class _Around:
    """The nodes around a point.

    Attributes:
        start: Where the first of them is in the grid.
        along: The weight of each of their rows.
        across: The weights of the nodes of a row.
    """

    start: Any
    along: list[Any]
    across: Any


@final
@dataclass(frozen=True, kw_only=True)
class _Loop:
    """What is inside of the loops.

    Attributes:
        builder: Writes instructions.
        polynomials: Address of the polynomials.
        grid: Address of the grid.
        stride: Number of nodes in a row.
    """

    builder: Any
    polynomials: Any
    grid: Any
    stride: Any

    def weights(self, place: Any) -> tuple[Any, Any]:
        """Return the number of the first node under the bump around a place, and the weights of all under it."""
        builder, last = self.builder, self.builder.sitofp(self.builder.sub(self.stride, _COUNT(WIDTH)), _NUMBER)
        # Cosines are the same on either side of the ends.
        place = self._call("llvm.fabs", place)
        place = builder.select(
            builder.fcmp_ordered(">", place, last), builder.fsub(builder.fadd(last, last), place), place
        )
        first = self._call("llvm.ceil", builder.fsub(place, _NUMBER(WIDTH // 2)))
        offset = builder.fsub(first, place)
        offset = _repeated(builder, builder.fadd(builder.fadd(offset, offset), _NUMBER(WIDTH - 1.0)))
        found = _load(builder, self.polynomials, _COUNT(0))
        for power in range(1, DEGREE + 1):
            found = _multiply_add(builder, found, offset, _load(builder, self.polynomials, _COUNT(power * WIDTH)))
        return builder.add(builder.fptosi(first, _COUNT), _COUNT(WIDTH // 2)), found

    def spread(self, value: Any, around: _Around) -> None:
        """Add a value to the nodes around a point."""
        shares = self.builder.fmul(around.across, _repeated(self.builder, self.builder.load(value)))
        for weight, offset in zip(around.along, self._rows(around), strict=True):
            row = _load(self.builder, self.grid, offset)
            found = _multiply_add(self.builder, shares, _repeated(self.builder, weight), row)
            self.builder.store(found, _vector(self.builder, self.grid, offset), align=8)

    def interpolate(self, value: Any, around: _Around) -> None:
        """Set a value by those at the nodes around a point."""
        # Two sums, so that no product has to wait for the one before.
        sums = [ir.Constant(_VECTOR, [0.0] * WIDTH)] * 2
        for number, (weight, offset) in enumerate(zip(around.along, self._rows(around), strict=True)):
            row, repeated = _load(self.builder, self.grid, offset), _repeated(self.builder, weight)
            sums[number % 2] = _multiply_add(self.builder, row, repeated, sums[number % 2])
        total = self.builder.fmul(self.builder.fadd(*sums), around.across)
        self.builder.store(_sum(self.builder, total), value)

    def _rows(self, around: _Around) -> Iterator[Any]:
        offset = around.start
        for _ in around.along:
            yield offset
            offset = self.builder.add(offset, self.stride)

    def _call(self, name: str, number: Any) -> Any:
        return self.builder.call(self.builder.module.declare_intrinsic(name, [_NUMBER]), [number])


def _at(builder: Any, array: Any, offset: Any) -> Any:
    return builder.load(builder.gep(array, [offset]))


def _vector(builder: Any, array: Any, offset: Any) -> Any:
    return builder.bitcast(builder.gep(array, [offset]), _VECTOR.as_pointer())


def _load(builder: Any, array: Any, offset: Any) -> Any:
    return builder.load(_vector(builder, array, offset), align=8)


def _repeated(builder: Any, number: Any) -> Any:
    """Return a vector of one number."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, _LANE(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_LANE, WIDTH), [0] * WIDTH))


def _multiply_add(builder: Any, left: Any, right: Any, added: Any) -> Any:
    return builder.fadd(builder.fmul(left, right, flags=("contract",)), added, flags=("contract",))


def _sum(builder: Any, vector: Any) -> Any:
    """Return the sum of the numbers in a vector."""
    size = WIDTH
    while size > 1:
        size //= 2
        halves = (ir.Constant(ir.VectorType(_LANE, size), list(range(start, start + size))) for start in (0, size))
        nothing = ir.Constant(vector.type, ir.Undefined)
        vector = builder.fadd(*(builder.shuffle_vector(vector, nothing, half) for half in halves))
    return builder.extract_element(vector, _LANE(0))
