"""Machine instructions that numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["load_word", "prefetch", "store_word"]


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return the address of the element with this number, counted over all axes."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask the processor to fetch the element that a C-ordered array has at a flat index."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature.args[0], *arguments)
        byte_pointer = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte_pointer,), kind)
        read, near, data = number(0), number(3), number(1)
        builder.call(fetch, [builder.bitcast(address, byte_pointer), read, near, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def store_word(typing_context: Any, array: Any, index: Any, word: Any) -> Any:
    """Write eight bytes into an array of bytes, from any index on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = _address(context, builder, signature.args[0], arguments[0], arguments[1])
        pointer = builder.bitcast(target, ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@intrinsic
def load_word(typing_context: Any, array: Any, index: Any) -> Any:
    """Read eight bytes of an array of bytes, from any index on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _address(context, builder, signature.args[0], *arguments)
        pointer = builder.bitcast(source, ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), generate
