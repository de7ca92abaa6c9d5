"""Operations that Numba does not have, as kernels call them.

Each is made when it is first named, since that needs Numba; with the compiler off it is plain Python.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from typing import Any

from rankforce.compiling.jit import PLAIN, compiler

# Places in the int64 array by which threads that run one kernel at once wait for each other; a cache line each.
ARRIVED, ROUND, ABANDONED, ASLEEP, HURRY = 0, 8, 16, 24, 32
MEETING_SIZE = 40
# The number of the system call by which a thread sleeps until another one wakes it; None where there is none.
FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" else None
FUTEX_WAIT, FUTEX_WAKE = 128, 129  # among the threads of one process
LONGEST_SLEEP = 10_000_000  # nanoseconds


def __getattr__(name: str) -> Any:
    if name not in _INTRINSICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _INTRINSICS[name]()
    globals()[name] = made
    return made


def _make_prefetch_row() -> Any:
    """``prefetch_row(array, row, byte)``: ask for a cache line of a row that will be read soon. Changes nothing."""
    if PLAIN:
        return lambda array, row, byte: None
    numba = compiler()
    from llvmlite import ir
    from numba.core import cgutils

    def prefetch_row(typing_context: Any, array: Any, row: Any, byte: Any) -> Any:
        signature = numba.types.void(array, numba.types.intp, numba.types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, arguments[0])
            strides = cgutils.unpack_tuple(builder, view.strides)
            byte_pointer = ir.IntType(8).as_pointer()
            start = builder.ptrtoint(view.data, ir.IntType(64))
            offset = builder.add(builder.mul(arguments[1], strides[0]), arguments[2])
            pointer = builder.inttoptr(builder.add(start, offset), byte_pointer)
            number = ir.IntType(32)
            prefetch = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number]),
                "llvm.prefetch.p0",
            )
            for_reading, keep_in_all_levels, data = number(0), number(3), number(1)
            builder.call(prefetch, [pointer, for_reading, keep_in_all_levels, data])
            return context.get_dummy_value()

        return signature, generate

    return numba.extending.intrinsic(prefetch_row)


def _make_trailing_zeros() -> Any:
    """``trailing_zeros(word)``: the position of the lowest 1 in a 64-bit word (64 if there is none)."""
    if PLAIN:
        return lambda word: ((int(word) & -int(word)).bit_length() - 1) if word else 64
    numba = compiler()
    from numba.core import cgutils

    def trailing_zeros(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], cgutils.false_bit)

        return numba.types.uint64(numba.types.uint64), generate

    return numba.extending.intrinsic(trailing_zeros)


def _make_leading_zeros() -> Any:
    """``leading_zeros(word)``: how many zeros come before the highest 1 of a 64-bit word (64 if there is none)."""
    if PLAIN:
        return lambda word: 64 - int(word).bit_length()
    numba = compiler()
    from numba.core import cgutils

    def leading_zeros(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctlz(arguments[0], cgutils.false_bit)

        return numba.types.int64(numba.types.uint64), generate

    return numba.extending.intrinsic(leading_zeros)


def _make_high_product() -> Any:
    """``high_product(a, b)``: the higher 64 of the 128 bits of the product of two uint64."""
    if PLAIN:
        import numpy as np

        return lambda a, b: np.uint64(int(a) * int(b) >> 64)
    numba = compiler()
    from llvmlite import ir

    def high_product(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
            return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

        return numba.types.uint64(numba.types.uint64, numba.types.uint64), generate

    return numba.extending.intrinsic(high_product)


def _make_word_at() -> Any:
    """``word_at(text, place)``: eight bytes of a uint8 array as one number, the first of them the lowest.

    The array must be contiguous, and have them: nothing is checked.
    """
    if PLAIN:
        import numpy as np

        return lambda text, place: np.uint64(int.from_bytes(text[int(place) : int(place) + 8].tobytes(), "little"))
    numba = compiler()
    from llvmlite import ir

    def word_at(typing_context: Any, text: Any, place: Any) -> Any:
        signature = numba.types.uint64(text, numba.types.uint64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, arguments[0])
            word = ir.IntType(64)
            pointer = builder.bitcast(builder.gep(view.data, [arguments[1]]), word.as_pointer())
            read = builder.load(pointer, align=1)
            return builder.bswap(read) if sys.byteorder == "big" else read

        return signature, generate

    return numba.extending.intrinsic(word_at)


def _make_float_of() -> Any:
    """``float_of(number)``: an int64 of magnitude below 2^51 as a float64.

    A conversion that is vectorised wherever floats are: added to the bits of 3·2^51, the number is the end of a
    mantissa. The processor's own conversion takes vectors only in its latest extensions.
    """
    if PLAIN:
        return float
    numba = compiler()
    from llvmlite import ir

    def float_of(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = builder.add(arguments[0], ir.IntType(64)(0x4338_0000_0000_0000))
            return builder.fsub(builder.bitcast(bits, ir.DoubleType()), ir.DoubleType()(3.0 * 2.0**51))

        return numba.types.float64(numba.types.int64), generate

    return numba.extending.intrinsic(float_of)


def _make_whole_of() -> Any:
    """``whole_of(number)``: a float64 that is whole and of magnitude below 2^51, as an int64; else any number.

    The inverse of ``float_of``, vectorised for the same reason.
    """
    if PLAIN:
        return lambda number: int(number) if abs(number) < 2.0**51 else 0
    numba = compiler()
    from llvmlite import ir

    def whole_of(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = builder.bitcast(builder.fadd(arguments[0], ir.DoubleType()(3.0 * 2.0**51)), ir.IntType(64))
            return builder.sub(bits, ir.IntType(64)(0x4338_0000_0000_0000))

        return numba.types.int64(numba.types.float64), generate

    return numba.extending.intrinsic(whole_of)


def _make_bits_of() -> Any:
    """``bits_of(number)``: the bits of a float64 as an int64; of numbers that are not negative, in their order."""
    if PLAIN:
        import struct

        return lambda number: struct.unpack("<q", struct.pack("<d", number))[0]
    numba = compiler()
    from llvmlite import ir

    def bits_of(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], ir.IntType(64))

        return numba.types.int64(numba.types.float64), generate

    return numba.extending.intrinsic(bits_of)


def _make_atomic_add() -> Any:
    """``atomic_add(counters, place, amount)``: add to an int64 that other threads add to, too; return the old one."""
    if PLAIN:

        def plain_add(counters: Any, place: Any, amount: Any) -> Any:
            before = int(counters[place])
            counters[place] += amount
            return before

        return plain_add
    numba = compiler()

    def atomic_add(typing_context: Any, counters: Any, place: Any, amount: Any) -> Any:
        signature = numba.types.int64(counters, numba.types.intp, numba.types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.atomic_rmw("add", builder.gep(view.data, [arguments[1]]), arguments[2], "seq_cst")

        return signature, generate

    return numba.extending.intrinsic(atomic_add)


def _make_atomic_load() -> Any:
    """``atomic_load(counters, place)``: an int64 as other threads left it, with all they had written before."""
    if PLAIN:
        return lambda counters, place: int(counters[place])
    numba = compiler()

    def atomic_load(typing_context: Any, counters: Any, place: Any) -> Any:
        signature = numba.types.int64(counters, numba.types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.load_atomic(builder.gep(made.data, [arguments[1]]), "seq_cst", 8)

        return signature, generate

    return numba.extending.intrinsic(atomic_load)


def _make_wait_for_change() -> Any:
    """``wait_for_change(counters, place, known)``: sleep while an int64 is ``known``, 10 ms at most.

    Whoever changes it calls ``wake_waiting`` after. The system looks at the number once more before the thread sleeps,
    so that no change between is missed. May return too early: look again. Elsewhere than on Linux, where there is no
    such call, it sleeps for a moment.
    """
    if PLAIN:
        return lambda counters, place, known: None
    numba = compiler()

    def wait_for_change(typing_context: Any, counters: Any, place: Any, known: Any) -> Any:
        signature = numba.types.void(counters, numba.types.intp, numba.types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if FUTEX is None:
                _sleep_a_moment(builder)
            else:
                view = context.make_array(signature.args[0])(context, builder, arguments[0])
                _call_futex(builder, view, arguments[1], FUTEX_WAIT, arguments[2], LONGEST_SLEEP)
            return context.get_dummy_value()

        return signature, generate

    return numba.extending.intrinsic(wait_for_change)


def _make_wake_waiting() -> Any:
    """``wake_waiting(counters, place)``: wake all threads that ``wait_for_change`` of this number."""
    if PLAIN:
        return lambda counters, place: None
    numba = compiler()
    from llvmlite import ir

    def wake_waiting(typing_context: Any, counters: Any, place: Any) -> Any:
        signature = numba.types.void(counters, numba.types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if FUTEX is not None:
                view = context.make_array(signature.args[0])(context, builder, arguments[0])
                _call_futex(builder, view, arguments[1], FUTEX_WAKE, ir.IntType(64)(2**31 - 1), None)
            return context.get_dummy_value()

        return signature, generate

    return numba.extending.intrinsic(wake_waiting)


def _call_futex(builder: Any, view: Any, place: Any, operation: int, number: Any, longest: int | None) -> None:
    """The system call behind both, on the lower half of an int64: ``syscall(FUTEX, address, operation, number, ...)``.

    ``longest`` is in nanoseconds.
    """
    from llvmlite import ir
    from numba.core import cgutils

    word, byte_pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    limit = ir.Constant(byte_pointer, None)
    if longest is not None:
        seconds_and_rest = cgutils.alloca_once_value(builder, ir.Constant(ir.ArrayType(word, 2), [0, longest]))
        limit = builder.bitcast(seconds_and_rest, byte_pointer)
    address = builder.bitcast(builder.gep(view.data, [place]), byte_pointer)
    call = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(word, [word], var_arg=True), "syscall"
    )  # fmt: skip
    nobody = ir.Constant(byte_pointer, None)
    builder.call(call, [word(FUTEX), address, word(operation), number, limit, nobody, word(0)])


def _sleep_a_moment(builder: Any) -> None:
    """The shortest sleep there is: 50 µs, a millisecond on Windows."""
    from llvmlite import ir
    from numba.core import cgutils

    name, duration = ("Sleep", 1) if sys.platform == "win32" else ("usleep", 50)
    number = ir.IntType(32)
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number]), name)
    builder.call(function, [number(duration)])


_INTRINSICS: dict[str, Callable[[], Any]] = {
    "prefetch_row": _make_prefetch_row,
    "trailing_zeros": _make_trailing_zeros,
    "leading_zeros": _make_leading_zeros,
    "high_product": _make_high_product,
    "word_at": _make_word_at,
    "float_of": _make_float_of,
    "whole_of": _make_whole_of,
    "bits_of": _make_bits_of,
    "atomic_add": _make_atomic_add,
    "atomic_load": _make_atomic_load,
    "wait_for_change": _make_wait_for_change,
    "wake_waiting": _make_wake_waiting,
}
