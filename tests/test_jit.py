"""What happens around compiling."""

from __future__ import annotations

import gc

import pytest

from rankforce import jit


@pytest.mark.compiled_only
def test_garbage_is_collected_before_and_after_compiling_but_not_meanwhile():
    numba = jit.compiler()
    from numba.core import event

    collecting = []

    class Note(event.Listener):
        def on_start(self, started):
            collecting.append(gc.isenabled())

        def on_end(self, ended):
            collecting.append(gc.isenabled())

    @jit.kernel
    def one(x):
        return max(x, 1)

    @jit.kernel
    def broken(x):
        return x.nothing_of_the_kind

    note = Note()
    event.register("numba:run_pass", note)
    try:
        assert one.foreign(2) == 2
        assert gc.isenabled()
        with pytest.raises(numba.TypingError):
            broken.foreign(1)
        assert gc.isenabled()
        gc.disable()
        one.foreign(1.5)
        assert not gc.isenabled()  # as whoever turned it off wants it
    finally:
        gc.enable()
        event.unregister("numba:run_pass", note)
    assert collecting
    assert not any(collecting)
