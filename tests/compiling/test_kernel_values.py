"""Values that kernels can call: whose code is run, which numbers kernels see, and that nobody else notices."""

from __future__ import annotations

import collections
import inspect

import numpy as np
import pytest

import rankforce as rf
from rankforce.compiling import jit, kernel_values
from rankforce.kernels.ranking.values import query_values


class Pair(collections.namedtuple("Pair", ["cutoff", "divisor"])):
    """Somebody else's named tuple, with the fields of one of ours."""

    __slots__ = ()

    def value(self):
        return 0


@pytest.mark.compiled_only
def test_other_peoples_named_tuples_are_untouched():
    numba = jit.compiler()
    query_values(
        rf.MAP().kernel_tuple(), np.ones(1), np.zeros(1, np.int32), np.ones(1), np.array([0, 1]), 0, 1, np.ones(1)
    )
    theirs, ours = Pair(3, 4), rf.MAP(3, divisor="cutoff").kernel_tuple()
    assert isinstance(numba.typeof(ours), kernel_values.KernelType)
    assert type(numba.typeof(theirs)) is numba.types.NamedUniTuple
    assert numba.typeof(theirs) != numba.typeof(ours)

    @numba.njit
    def add(pair):
        return pair.cutoff + pair[1]

    assert add(theirs) == 7
    assert add.py_func(theirs) == 7

    @numba.njit
    def call(pair):
        return pair.value()

    with pytest.raises(numba.TypingError):
        call(theirs)


@pytest.mark.compiled_only
def test_classes_with_equal_fields_do_not_share_compiled_code():
    """Numba's dispatcher tells named tuples apart by name and fields alone."""
    assert rf.ERR.Kernel._fields == rf.Judged.Kernel._fields == rf.Recall.Kernel._fields
    worth = np.array([0.0, 1.0, 1.0, 0.0])
    found = []
    for measure in (rf.Recall(2), rf.Success(2), rf.Judged(2), rf.Recall(3)):
        out = np.empty(1)
        order = np.arange(4, dtype=np.int32)
        query_values(measure.kernel_tuple(), worth, order, np.full(1, 4.0), np.array([0, 4]), 0, 1, out)
        found.append(out[0])
    assert found == [1 / 4, 1.0, 1 / 2, 2 / 4]


def test_a_subclass_that_changes_nothing_for_kernels_shares_them():
    class OtherWorth(rf.NDCG):
        scale: float = 2.0

        def worth(self, labels):
            return super().worth(labels) * 2

    class OtherValue(rf.NDCG):
        def value(self, ranked, normaliser):
            return 0.0

    class MoreChoice(rf.NDCG):
        mode: str = kernel_values.choice("a", "b")

    class PythonField(rf.NDCG):
        note: str = kernel_values.python_only("")

    assert rf.CNDCG.Kernel is rf.DCG.Kernel is rf.NDCG.Kernel
    assert PythonField.Kernel is rf.NDCG.Kernel
    assert not rf.NDCG.Kernel.FOREIGN
    for changed in (OtherWorth, OtherValue, MoreChoice):  # a number more, a method, a choice more
        assert changed.Kernel is not rf.NDCG.Kernel
        assert changed.Kernel.FOREIGN


def test_kernels_see_numbers():
    assert rf.NDCG().kernel_tuple() == (kernel_values.NO_CUTOFF, 0, 1)
    assert rf.NDCG(10, discount="reciprocal").kernel_tuple() == (10, 2, 1)
    assert rf.DCG(10, gain="linear").kernel_tuple() == (10, 0, 0)
    assert rf.RBP(persistence=0.5).kernel_tuple() == (kernel_values.NO_CUTOFF, 0.5)


def test_a_class_without_numeric_fields_still_makes_a_tuple():
    assert rf.PairwiseAccuracy().kernel_tuple() == (0,)
    assert rf.WTA(relevant=3).kernel_tuple() == (0,)


def test_one_number_has_one_type_however_it_was_written():
    types = {tuple(map(type, rf.NDCG(cutoff).kernel_tuple())) for cutoff in (10, 10.0, np.int32(10), None)}
    assert types == {(int, int, int)}
    assert type(rf.RBP(persistence=np.float32(0.5)).kernel_tuple().persistence) is float


def test_kernel_values_print_their_fields():
    class Plain(kernel_values.KernelValue):
        sigma: float = 1.0
        name: str = "x"

    assert repr(Plain(2)) == "Plain(sigma=2.0, name='x')"
    assert Plain(1) == Plain(1.0) != Plain(2)


@pytest.mark.parametrize("bad", ["1", None, 1.5, [1], float("inf"), True, np.False_])
def test_fields_must_be_what_they_are_declared_to_be(bad):
    class Whole(kernel_values.KernelValue):
        size: int = 1

    with pytest.raises(rf.SettingsError, match="size must be a whole number, not"):
        Whole(bad)


def test_methods_of_one_name_take_equally_many_arguments():
    """Numba knows one list of parameters per name for all classes of ours."""
    seen: dict[str, int] = {}
    classes = [jit.KernelTuple]
    for cls in classes:
        classes += cls.__subclasses__()
        if cls is jit.KernelTuple or cls.FOREIGN:
            continue
        for name, method in vars(cls).items():
            if inspect.isfunction(method):
                count = len(inspect.signature(method).parameters)
                assert seen.setdefault(name, count) == count, (cls, name)
    assert seen["swap_delta"] == 3


@pytest.mark.compiled_only
def test_methods_of_one_name_in_users_classes_may_differ():
    values = []
    for takes_two in (False, True):

        class Own(rf.Measure):
            if takes_two:

                def share(self, worth, size):
                    return worth / size

                def value(self, ranked, normaliser):
                    return self.share(ranked[0], len(ranked))

            else:

                def share(self, worth):
                    return worth

                def value(self, ranked, normaliser):
                    return self.share(ranked[0])

            def normaliser(self, ideal):
                return 1.0

        out = np.empty(1)
        order = np.arange(2, dtype=np.int32)
        query_values(Own().kernel_tuple(), np.array([3.0, 0.0]), order, np.ones(1), np.array([0, 2]), 0, 1, out)
        values.append(out[0])
    assert values == [3.0, 1.5]
