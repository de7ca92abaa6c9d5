"""Operations on vectors that the compiler does not find by itself, as kernels call them.

Made as those of ``intrinsics.py`` are; with the compiler off they are plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankforce.compiling.jit import PLAIN, compiler

DOCUMENT_BLOCK = 64  # documents that ``failed_tests`` takes at once: four vector registers of sixteen
GROUP = 8 * DOCUMENT_BLOCK  # documents that pass through a bundle of trees before the next bundle is fetched
SMALL_BLOCK = 16  # documents that ``failed_tests_of_few`` takes at once
SUMMED = 8  # numbers that ``running_sums`` takes at once


def __getattr__(name: str) -> Any:
    if name not in _INTRINSICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _INTRINSICS[name]()
    globals()[name] = made
    return made


def _make_running_sums() -> Any:
    """``running_sums(values, first, count, out)``: ``out[k]`` becomes the sum of ``values[first]`` … ``[first + k]``.

    Of int64 numbers, ``count`` of them, a multiple of SUMMED; the sum of all is returned. Within a vector sums double
    their reach three times, so that no sum waits for the one before it, only vector for vector.
    """
    if PLAIN:

        def plain(values: Any, first: Any, count: Any, out: Any) -> Any:
            out[:count] = values[first : first + count].cumsum()
            return out[count - 1] if count > 0 else 0

        return plain
    numba = compiler()
    from llvmlite import ir

    number, lane = ir.IntType(64), ir.IntType(32)
    numbers = ir.VectorType(number, SUMMED)
    nothing = ir.Constant(numbers, [0] * SUMMED)

    def lanes(places: Any) -> Any:
        return ir.Constant(ir.VectorType(lane, SUMMED), list(places))

    def running_sums(typing_context: Any, values: Any, first: Any, count: Any, out: Any) -> Any:
        place = numba.types.intp
        signature = numba.types.int64(values, place, place, out)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def lanes_at(start: Any, place: Any) -> Any:
                return builder.bitcast(builder.gep(start, [place]), numbers.as_pointer())

            given, made = (
                context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3)
            )  # fmt: skip
            begin, end = arguments[1], arguments[2]
            before = builder.block
            loop, after = builder.append_basic_block("sums"), builder.append_basic_block("summed")
            builder.cbranch(builder.icmp_signed("<", number(0), end), loop, after)

            builder.position_at_end(loop)
            k = builder.phi(number)
            so_far = builder.phi(numbers)
            here = builder.load(lanes_at(given, builder.add(begin, k)), align=8)
            for reach in (1, 2, 4):  # the first lanes take what stands before the vector: nothing
                behind = lanes(max(SUMMED + place - reach, SUMMED - 1) for place in range(SUMMED))
                here = builder.add(here, builder.shuffle_vector(nothing, here, behind))
            builder.store(builder.add(so_far, here), lanes_at(made, k), align=8)
            whole = builder.shuffle_vector(here, nothing, lanes([SUMMED - 1] * SUMMED))
            with_these = builder.add(so_far, whole)
            next_k = builder.add(k, number(SUMMED))
            builder.cbranch(builder.icmp_signed("<", next_k, end), loop, after)
            k.add_incoming(number(0), before)
            k.add_incoming(next_k, loop)
            so_far.add_incoming(nothing, before)
            so_far.add_incoming(with_these, loop)

            builder.position_at_end(after)
            final = builder.phi(numbers)
            final.add_incoming(nothing, before)
            final.add_incoming(with_these, loop)
            return builder.extract_element(final, lane(0))

        return signature, generate

    return numba.extending.intrinsic(running_sums)


def _make_failed_tests(block: int) -> Any:
    """``failed_tests(values, rows, thresholds, masks, first, last, out)`` for a block of documents.

    ``out[d]`` uint32 becomes the union of ``masks[p]`` over all p in [first, last) with
    ``values[rows[p], d] > thresholds[p]``; values float32 of shape (rows, block), rows int32. Written as vectors of 16
    (two of 8 where the processor has no longer ones): a loop over documents within a loop over p would load and store
    ``out`` at each p, this one keeps it in registers. Values should begin with a cache line.
    """
    if PLAIN:

        def plain(values: Any, rows: Any, thresholds: Any, masks: Any, first: Any, last: Any, out: Any) -> None:
            out[:block] = 0
            for p in range(first, last):
                out[:block][values[rows[p]] > thresholds[p]] |= masks[p]

        return plain
    numba = compiler()
    from llvmlite import ir

    lanes = 16
    number, offset = ir.IntType(32), ir.IntType(64)
    floats, words = ir.VectorType(ir.FloatType(), lanes), ir.VectorType(number, lanes)

    def failed_tests(
        typing_context: Any, values: Any, rows: Any, thresholds: Any, masks: Any, first: Any, last: Any, out: Any
    ) -> Any:
        place = numba.types.intp
        signature = numba.types.void(values, rows, thresholds, masks, place, place, out)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def start_of(k: int) -> Any:
                return context.make_array(signature.args[k])(context, builder, arguments[k]).data

            def in_all_lanes(scalar: Any, vector: Any) -> Any:
                nothing = ir.Constant(vector, ir.Undefined)
                first_lane = builder.insert_element(nothing, scalar, number(0))
                return builder.shuffle_vector(first_lane, nothing, ir.Constant(words, [0] * lanes))

            def lanes_at(start: Any, group: int, vector: Any) -> Any:
                return builder.bitcast(builder.gep(start, [offset(group * lanes)]), vector.as_pointer())

            groups = range(block // lanes)
            none = ir.Constant(words, [0] * lanes)
            all_values, all_rows, all_thresholds, all_masks, result = (start_of(k) for k in (0, 1, 2, 3, 6))
            begin, end = arguments[4], arguments[5]
            before = builder.block
            loop, after = builder.append_basic_block("tests"), builder.append_basic_block("tested")
            builder.cbranch(builder.icmp_signed("<", begin, end), loop, after)

            builder.position_at_end(loop)
            p = builder.phi(offset)
            so_far = [builder.phi(words) for _ in groups]
            row = builder.sext(builder.load(builder.gep(all_rows, [p])), offset)
            threshold = in_all_lanes(builder.load(builder.gep(all_thresholds, [p])), floats)
            mask = in_all_lanes(builder.load(builder.gep(all_masks, [p])), words)
            row_start = builder.gep(all_values, [builder.mul(row, offset(block))])
            union = []
            for group in groups:
                compared = builder.load(lanes_at(row_start, group, floats), align=4)
                failed = builder.sext(builder.fcmp_ordered(">", compared, threshold), words)
                union.append(builder.or_(so_far[group], builder.and_(failed, mask)))
            next_p = builder.add(p, offset(1))
            builder.cbranch(builder.icmp_signed("<", next_p, end), loop, after)
            p.add_incoming(begin, before)
            p.add_incoming(next_p, loop)

            builder.position_at_end(after)
            final = [builder.phi(words) for _ in groups]
            for group in groups:
                so_far[group].add_incoming(none, before)
                so_far[group].add_incoming(union[group], loop)
                final[group].add_incoming(none, before)
                final[group].add_incoming(union[group], loop)
            for group in groups:
                builder.store(final[group], lanes_at(result, group, words), align=4)
            return context.get_dummy_value()

        return signature, generate

    return numba.extending.intrinsic(failed_tests)


def _make_failed_set_tests(block: int) -> Any:
    """``failed_set_tests(failing, places, masks, first, last, out)`` for a block of documents.

    ``masks[p]`` is added to ``out[d]`` uint32 for all p in [first, last) with bit d in ``failing[places[p]]`` uint64;
    places int32. Vectors of 8 as in ``failed_tests``: each takes 8 bits of the word.
    """
    if PLAIN:

        def plain(failing: Any, places: Any, masks: Any, first: Any, last: Any, out: Any) -> None:
            for p in range(first, last):
                word = int(failing[places[p]])
                for d in range(block):
                    if word >> d & 1:
                        out[d] |= masks[p]

        return plain
    numba = compiler()
    from llvmlite import ir

    lanes = 8
    number, offset = ir.IntType(32), ir.IntType(64)
    words, answers = ir.VectorType(number, lanes), ir.VectorType(ir.IntType(1), 64)

    def failed_set_tests(
        typing_context: Any, failing: Any, places: Any, masks: Any, first: Any, last: Any, out: Any
    ) -> Any:
        place = numba.types.intp
        signature = numba.types.void(failing, places, masks, place, place, out)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def start_of(k: int) -> Any:
                return context.make_array(signature.args[k])(context, builder, arguments[k]).data

            def lanes_at(start: Any, group: int) -> Any:
                return builder.bitcast(builder.gep(start, [offset(group * lanes)]), words.as_pointer())

            groups = range(block // lanes)
            all_failing, all_places, all_masks, result = (start_of(k) for k in (0, 1, 2, 5))
            begin, end = arguments[3], arguments[4]
            so_far = [builder.load(lanes_at(result, group), align=4) for group in groups]
            before = builder.block
            loop, after = builder.append_basic_block("tests"), builder.append_basic_block("tested")
            builder.cbranch(builder.icmp_signed("<", begin, end), loop, after)

            builder.position_at_end(loop)
            p = builder.phi(offset)
            union = [builder.phi(words) for _ in groups]
            at = builder.sext(builder.load(builder.gep(all_places, [p])), offset)
            bits = builder.bitcast(builder.load(builder.gep(all_failing, [at])), answers)
            nothing = ir.Constant(words, ir.Undefined)
            mask = builder.insert_element(nothing, builder.load(builder.gep(all_masks, [p])), number(0))
            mask = builder.shuffle_vector(mask, nothing, ir.Constant(words, [0] * lanes))
            added = []
            for group in groups:
                mine = ir.Constant(words, [group * lanes + lane for lane in range(lanes)])
                fails = builder.sext(builder.shuffle_vector(bits, ir.Constant(answers, ir.Undefined), mine), words)
                added.append(builder.or_(union[group], builder.and_(fails, mask)))
            next_p = builder.add(p, offset(1))
            builder.cbranch(builder.icmp_signed("<", next_p, end), loop, after)
            p.add_incoming(begin, before)
            p.add_incoming(next_p, loop)

            builder.position_at_end(after)
            final = [builder.phi(words) for _ in groups]
            for group in groups:
                union[group].add_incoming(so_far[group], before)
                union[group].add_incoming(added[group], loop)
                final[group].add_incoming(so_far[group], before)
                final[group].add_incoming(added[group], loop)
            for group in groups:
                builder.store(final[group], lanes_at(result, group), align=4)
            return context.get_dummy_value()

        return signature, generate

    return numba.extending.intrinsic(failed_set_tests)


_INTRINSICS: dict[str, Callable[[], Any]] = {
    "running_sums": _make_running_sums,
    "failed_tests": lambda: _make_failed_tests(DOCUMENT_BLOCK),
    "failed_tests_of_few": lambda: _make_failed_tests(SMALL_BLOCK),
    "failed_set_tests": lambda: _make_failed_set_tests(DOCUMENT_BLOCK),
    "failed_set_tests_of_few": lambda: _make_failed_set_tests(SMALL_BLOCK),
}
