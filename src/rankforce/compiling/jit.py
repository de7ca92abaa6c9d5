"""The seam to Numba: functions that are compiled.

``@kernel``
    A compiled function called from Python. Compiled lazily, once per signature, kept on disk (``cache.py``).
``@subroutine``
    A function called from kernels, compiled as part of each caller.

Kernels take arrays, numbers, and values whose methods they can call (``kernel_values.py``).

Numba itself is imported when the first kernel is compiled or loaded, not before: ``import rankforce``, ``--help`` and
scoring a saved model with NumPy do without it. With ``NUMBA_DISABLE_JIT=1`` kernels are the plain Python functions.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import logging  # noqa: F401  # what it does before a fork is registered before what is done here, and so done later
import os
import sys
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from rankforce.cached_properties import cached_property
from rankforce.compiling.bounds_failures import out_of_bounds
from rankforce.compiling.cache import KernelCache
from rankforce.compiling.compilers import function_compiler, kernel_compiler
from rankforce.compiling.stand_ins import StandIn
from rankforce.compiling.type_failures import explained
from rankforce.errors import RankforceError, SettingsError

Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

# What a loop needs to be vectorised: sums may be reordered and fused. NaN and infinity keep their meaning.
VECTOR = frozenset({"reassoc", "contract", "nsz"})
# Nobody calls compiled code from C: Numba need not make a form of each function for that.
NOT_FROM_C = {"no_cfunc_wrapper": True}
UNCOUNTED = {"_nrt": False}

_waiting: list[Callable[[Any], None]] = []
_compiler_lock = threading.RLock()
_numba: Any = None


def once_compiling(register: Callable[[Any], None]) -> None:
    """Run ``register(numba)`` when Numba is loaded: now if it is, else with the first kernel."""
    with _compiler_lock:
        if _numba is None:
            _waiting.append(register)
        else:
            register(_numba)


def compiler() -> Any:
    """The numba module, loaded on first use."""
    global _numba
    with _compiler_lock:
        if _numba is None:
            import numba
            import numba.extending

            _numba = numba
        while _waiting:
            _waiting.pop(0)(_numba)
        return _numba


def is_loaded() -> bool:
    """Whether Numba is loaded, and not switched off."""
    return _numba is not None and not PLAIN


class KernelTuple:
    """Marker in the bases of every tuple of fields that kernels see."""

    __slots__ = ()
    FOREIGN: ClassVar[bool] = False
    ERROR: ClassVar[type[RankforceError]] = SettingsError  # of what is wrong with a user's class
    COLUMNS: ClassVar[int] = 0


class Kernel:
    """A compiled function called from Python; ``py_func`` is its plain form.

    ``own`` is the dispatcher cached on disk, ``foreign`` the one in memory for arguments of users' classes.
    """

    def __init__(self, function: Callable[..., Any], fastmath: frozenset[str], options: dict[str, Any]) -> None:
        self.py_func = function
        self.name = function.__name__
        self.fastmath = fastmath
        self.options = options
        self._dispatchers: dict[str, Any] = {}
        self._stand_in: StandIn | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, KernelTuple) and argument.FOREIGN:
                break
        else:
            if PLAIN:
                return self._run_plainly(*arguments)
            own = self._dispatchers.get("own")  # without the lock: a training makes thousands of short calls
            if own is not None:
                return own(*arguments)
            if self._stand_in is not None and self._stand_in.does(self, arguments):
                return None
            return self.own(*arguments)
        users = [type(a) for a in arguments if isinstance(a, KernelTuple) and a.FOREIGN]
        try:
            return self._run_plainly(*arguments) if PLAIN else self.foreign(*arguments)
        except IndexError as error:
            raise out_of_bounds(error, users) from error
        except Exception as error:
            if type(error).__module__ != "numba.core.errors":  # not all of them are NumbaErrors
                raise
            raise explained(error, users) from error

    def _run_plainly(self, *arguments: Any) -> Any:
        import numpy as np

        with np.errstate(over="ignore"):  # as in compiled code, random words wrap around without a word
            return self.py_func(*arguments)

    def stood_in_by(self, function: Callable[..., bool]) -> Callable[..., bool]:
        """Decorate a function that does the same to the last bit, for as long as compiling would take longer.

        It takes the arguments of the kernel and returns whether it has done the work.
        """
        self._stand_in = StandIn(function)
        return function

    @cached_property
    def cache(self) -> KernelCache:
        """Its compiled forms on disk."""
        return KernelCache(self.py_func)

    @property
    def own(self) -> Any:
        return self._dispatcher("own")

    @property
    def foreign(self) -> Any:
        return self._dispatcher("foreign")

    @property
    def compiled(self) -> bool:
        """Whether this process has compiled it, or loaded it from disk, for some arguments."""
        return any(dispatcher.signatures for dispatcher in self._dispatchers.values())

    @property
    def is_kept(self) -> bool:
        """Whether what is compiled is kept on disk; it is not where nothing can be written."""
        return self.cache.is_kept

    @property
    def is_on_disk(self) -> bool:
        """Whether the disk has it, as the sources are now, for some arguments."""
        return self.cache.has_some()

    @property
    def marks(self) -> int:
        """How often a stand-in was marked to have done its work, by all processes."""
        return self.cache.marks

    def add_mark(self) -> None:
        self.cache.add_mark()

    @property
    def compilations(self) -> int:
        """How often this process has compiled it."""
        return sum(sum(dispatcher.stats.cache_misses.values()) for dispatcher in self._dispatchers.values())

    def awaits(self, finish: Callable[[], None]) -> None:
        """Somebody else compiles it: before this process does, it calls ``finish`` and looks on the disk again."""
        self.cache.finish = finish

    def _dispatcher(self, kind: str) -> Any:
        with _compiler_lock:
            if kind not in self._dispatchers:
                self._dispatchers[kind] = self._compile(cached=kind == "own")
            return self._dispatchers[kind]

    def _compile(self, cached: bool) -> Any:
        dispatcher = compiler().njit(
            nogil=True,
            error_model="numpy",
            fastmath=set(self.fastmath),
            pipeline_class=kernel_compiler(),
            **NOT_FROM_C,
            **self.options,
        )(self.py_func)
        if cached:
            dispatcher._cache = self.cache
        return dispatcher


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    fastmath: frozenset[str] = frozenset(),
    uncounted: bool = False,
) -> Any:
    """Decorate a function called from Python: compiled, without the global interpreter lock, cached on disk.

    A kernel takes arrays and scalars, writes its results into its last arguments and never raises: validate before.
    ``uncounted`` as in ``uncounted_subroutine``.
    """
    if function is None:
        return functools.partial(kernel, fastmath=fastmath, uncounted=uncounted)
    made = Kernel(function, fastmath, UNCOUNTED if uncounted else {})
    KERNELS.append(made)
    return made


def subroutine(function: Function) -> Function:
    """Decorate a function called from kernels: it is compiled as part of each caller."""
    return _register_subroutine(function, frozenset())


def uncounted_subroutine(function: Function) -> Function:
    """A subroutine that does not count references to its arrays, which are its caller's all the while.

    Arrays in bundles are counted whenever a bundle is handed on. Threads that run the same kernel at once would fight
    for the counters. No array can be made in it.
    """
    return _register_subroutine(function, frozenset(), UNCOUNTED)


def vector_subroutine(function: Function) -> Function:
    """A subroutine compiled with the flags that let its loops be vectorised."""
    return _register_subroutine(function, VECTOR)


def _register_subroutine(
    function: Function, fastmath: frozenset[str], more: Mapping[str, Any] = MappingProxyType({})
) -> Function:
    def register(numba: Any) -> None:
        options = {"fastmath": set(fastmath), "pipeline_class": function_compiler(), **NOT_FROM_C, **more}
        numba.extending.register_jitable(**options)(function)

    once_compiling(register)
    return function


KERNELS: list[Kernel] = []  # every kernel that was imported: what ``rankforce warmup`` and its test walk


def _pause_garbage_collection(numba: Any) -> None:
    """Let no garbage be collected while a kernel is compiled.

    Nearly all of the millions of objects that Numba makes are in use until it is done: looking for others takes a
    tenth of the time.
    """
    from numba.core import event

    class Pause(event.Listener):
        depth = 0  # kernels call subroutines, which are compiled meanwhile; one thread compiles at a time
        resume = False

        def on_start(self, event: Any) -> None:
            compiled = getattr(event.data["dispatcher"], "py_func", None)
            if self.depth == 0 and all(compiled is not kernel.py_func for kernel in KERNELS):
                return  # somebody else's
            if self.depth == 0:
                self.resume = gc.isenabled()
                gc.disable()
            self.depth += 1

        def on_end(self, ended: Any) -> None:
            if self.depth == 0:
                return
            self.depth -= 1
            if self.depth == 0 and self.resume:
                gc.enable()

    event.register("numba:compile", Pause())


once_compiling(_pause_garbage_collection)


def _hold_compiler() -> None:
    """Before a fork, wait for what is being compiled: the child would wait for ever for a thread that it lacks.

    Whoever compiles holds Numba's lock and may take ours, hence the order; and writes to logs, so that nobody may have
    taken the lock of ``logging`` before.
    """
    while True:
        with _compiler_lock:  # who holds it may be importing Numba
            numbas = sys.modules.get("numba.core.compiler_lock")
        if numbas is not None:
            numbas.global_compiler_lock.acquire()
        _compiler_lock.acquire()
        if (numbas is None) == ("numba.core.compiler_lock" not in sys.modules):
            return
        _compiler_lock.release()  # Numba was imported meanwhile


def _release_compiler() -> None:
    _compiler_lock.release()
    numbas = sys.modules.get("numba.core.compiler_lock")
    if numbas is not None:
        numbas.global_compiler_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_compiler, after_in_parent=_release_compiler, after_in_child=_release_compiler)


def cpu_target() -> str:
    """The processor that kernels are compiled for: vectorised sums may differ in the last bit between targets."""
    if PLAIN:
        return "plain"
    asked = compiler().config  # NUMBA_CPU_NAME and NUMBA_CPU_FEATURES, where a user has set them
    import llvmlite.binding as llvm

    name = asked.CPU_NAME or llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten() if asked.CPU_FEATURES is None else asked.CPU_FEATURES
    return f"{name}-{hashlib.sha256(features.encode()).hexdigest()[:12]}"
