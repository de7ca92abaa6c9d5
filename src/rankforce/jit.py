"""The seam to Numba: kernels, and values whose methods kernels can call.

Three things are defined here.

``@kernel``
    A compiled function called from Python. Compiled lazily, once per signature, kept on disk. The name of a cached
    kernel holds a digest of all compiled sources of the package: Numba's own stamp covers one file only, so that an
    edited ``ndcg.py`` would leave the cached pair loop running the old NDCG.
``@subroutine``
    A function called from kernels, compiled as part of each caller.
``KernelValue``
    A frozen class (a measure, a cost) that kernels see as a small tuple of its numeric fields, under a Numba type of
    our own, with its methods. Classes of this package are cached on disk; users' classes are compiled in memory: in
    the disk cache they would make every process fail that cannot import them, and their edits would go unseen.

Numba itself is imported when the first kernel is compiled or loaded, not before: ``import rankforce``, ``--help`` and
scoring a saved model with NumPy do without it. With ``NUMBA_DISABLE_JIT=1`` kernels are the plain Python functions.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import gc
import glob
import hashlib
import inspect
import itertools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar, dataclass_transform

from rankforce.errors import SettingsError

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

# What a loop needs to be vectorised: sums may be reordered and fused. NaN and infinity keep their meaning.
VECTOR = frozenset({"reassoc", "contract", "nsz"})
# Methods called in the innermost pair loop, compiled with these flags; no other method is.
VECTOR_METHODS = frozenset({"swap_delta", "pair"})

# Nobody calls compiled code from C: Numba need not make a form of each function for that.
NOT_FROM_C = {"no_cfunc_wrapper": True}

NO_CUTOFF = 2**31 - 1
MOST_COLUMNS = 6


# Where compiled code may stand (a test holds this): kernels, and what they call.
COMPILED_SOURCES = ("jit.py", "intrinsics.py", "kernels", "measures", "lambdas")


@functools.cache
def package_fingerprint() -> str:
    """A digest of every source file that holds compiled code: the stamp of all cached kernels."""
    digest = hashlib.sha256()
    for place in COMPILED_SOURCES:
        paths = [PACKAGE / place] if place.endswith(".py") else sorted((PACKAGE / place).rglob("*.py"))
        for path in paths:
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


_waiting: list[Callable[[Any], None]] = []
_compiler_lock = threading.RLock()
_numba: Any = None


def _once_compiling(register: Callable[[Any], None]) -> None:
    """Run ``register(numba)`` when Numba is loaded: now if it is, else with the first kernel."""
    with _compiler_lock:
        if _numba is None:
            _waiting.append(register)
        else:
            register(_numba)


# ---------------------------------------------------------------------------------------------------------- kernels


class Kernel:
    """A compiled function called from Python; ``py_func`` is its plain form.

    ``own`` is the dispatcher cached on disk, ``foreign`` the one in memory for arguments of users' classes.
    """

    def __init__(self, function: Callable[..., Any], fastmath: frozenset[str]) -> None:
        self.py_func = function
        self.name = function.__name__
        self.fastmath = fastmath
        self._lock = threading.Lock()
        self._dispatchers: dict[str, Any] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        if PLAIN:
            import numpy as np

            with np.errstate(over="ignore"):  # as in compiled code, random words wrap around without a word
                return self.py_func(*arguments)
        foreign = any(isinstance(a, KernelTuple) and a.FOREIGN for a in arguments)
        dispatcher = self.foreign if foreign else self.own
        return dispatcher(*arguments)

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
        return hasattr(self.own._cache, "_cache_file")

    @property
    def is_on_disk(self) -> bool:
        """Whether the disk has it, as the sources are now, for some arguments."""
        return self.is_kept and self.own._cache._cache_file.has_some()

    def awaits(self, finish: Callable[[], None]) -> None:
        """Somebody else compiles it: before this process does, it calls ``finish`` and looks on the disk again."""
        self.own._cache._cache_file.finish = finish

    def _dispatcher(self, kind: str) -> Any:
        with self._lock:
            if kind not in self._dispatchers:
                self._dispatchers[kind] = self._compile(cached=kind == "own")
            return self._dispatchers[kind]

    def _compile(self, cached: bool) -> Any:
        numba = compiler()
        options = {**NOT_FROM_C, "nogil": True, "error_model": "numpy", "fastmath": set(self.fastmath)}
        if cached:
            try:
                dispatcher = numba.njit(cache=True, **options)(self.py_func)
            except RuntimeError:  # nowhere to write: compile in memory
                return numba.njit(**options)(self.py_func)
            dispatcher._cache._cache_file = _CacheFiles(dispatcher._cache._cache_file)
            _announce_compilation(dispatcher)
            return dispatcher
        return numba.njit(**options)(self.py_func)


class _CacheFiles:
    """The compiled forms of one kernel on disk: a file per signature, named by a digest of all it was made from.

    Numba numbers the files and keeps an index. Two processes that start cold may then give one number to two
    signatures and run each other's code, a killed one may leave an index that points to an older file, and the index
    cannot be read at all once a class named in it is gone.
    """

    def __init__(self, numbas: Any) -> None:
        self._numbas = numbas  # knows the folder, and writes a file as a whole or not at all
        self._kernel = f"{numbas._index_name.removesuffix('.nbi')}."
        self._version = f"{self._kernel}{package_fingerprint()[:12]}."
        self.finish: Callable[[], None] | None = None  # wait for another process that is about to write some

    def load(self, key: Any) -> Any:
        found = self._read(key)
        if found is None and self.finish is not None:
            self.finish()
            self.finish = None
            found = self._read(key)
        return found

    def has_some(self) -> bool:
        return any(Path(self._numbas._cache_path).glob(f"{glob.escape(self._version)}*.nbc"))

    def _read(self, key: Any) -> Any:
        try:
            return self._numbas._load_data(self._name(key))
        except OSError:
            return None

    def save(self, key: Any, data: Any) -> None:
        for file in Path(self._numbas._cache_path).glob(f"{glob.escape(self._kernel)}*.nbc"):
            if not file.name.startswith(self._version):  # of sources that are no more
                file.unlink(missing_ok=True)
        self._numbas._save_data(self._name(key), data)

    def _name(self, key: Any) -> str:
        made_from = repr((self._numbas._version, key))  # version of Numba; signature, processor, bytecode
        return f"{self._version}{hashlib.sha256(made_from.encode()).hexdigest()[:24]}.nbc"


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    fastmath: frozenset[str] = frozenset(),
) -> Any:
    """Decorate a function called from Python: compiled, without the global interpreter lock, cached on disk.

    A kernel takes arrays and scalars, writes its results into its last arguments and never raises: validate before.
    """
    if function is None:
        return functools.partial(kernel, fastmath=fastmath)
    made = Kernel(function, fastmath)
    KERNELS.append(made)
    return made


def subroutine(function: Function) -> Function:
    """Decorate a function called from kernels: it is compiled as part of each caller."""
    return _register_subroutine(function, frozenset())


def vector_subroutine(function: Function) -> Function:
    """A subroutine compiled with the flags that let its loops be vectorised."""
    return _register_subroutine(function, VECTOR)


def _register_subroutine(function: Function, fastmath: frozenset[str]) -> Function:
    def register(numba: Any) -> None:
        numba.extending.register_jitable(fastmath=set(fastmath), **NOT_FROM_C)(function)

    _once_compiling(register)
    return function


KERNELS: list[Kernel] = []  # every kernel that was imported: what ``rankforce warmup`` and its test walk
_announced = False


def _announce_compilation(dispatcher: Any) -> None:
    """Say once, on standard error, that kernels are being compiled: a silent wait looks like a hang."""
    save = dispatcher._cache.save_overload

    def announcing_save(signature: Any, data: Any) -> None:
        global _announced
        if not _announced and not os.environ.get("RANKFORCE_QUIET"):
            _announced = True
            print("rankforce: compiling kernels (once per installation) ...", file=sys.stderr, flush=True)
        save(signature, data)

    dispatcher._cache.save_overload = announcing_save


def _pause_garbage_collection(numba: Any) -> None:
    """Let no garbage be collected while a kernel is compiled.

    Nearly all of the millions of objects that Numba makes are in use until it is done: looking for others takes a
    tenth of the time.
    """
    from numba.core import event

    class Pause(event.Listener):
        depth = 0  # kernels call subroutines, which are compiled meanwhile; one thread compiles at a time
        resume = False

        def on_start(self, started: Any) -> None:
            compiled = getattr(started.data["dispatcher"], "py_func", None)
            if self.depth == 0 and all(compiled is not each.py_func for each in KERNELS):
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


_once_compiling(_pause_garbage_collection)


# -------------------------------------------------------------------------------------- values that kernels can call


class KernelTuple:
    """Marker in the bases of every tuple of fields that kernels see."""

    __slots__ = ()
    FOREIGN: ClassVar[bool] = False
    COLUMNS: ClassVar[int] = 0


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class KernelValue:
    """Base of measures and costs: a frozen value class that kernels can use.

    Subclasses are data classes: equality and hash include the class. ``kernel_tuple()`` is what a kernel is given:
    the fields annotated ``int``, ``float``, ``bool`` or ``int | None`` (None means no limit) as numbers, and each
    ``choice`` field as the number of the choice. Other fields stay in Python. All methods that a subclass adds are
    callable in kernels.

    A subclass that changes nothing that kernels see (no method of theirs, no field) shares its parent's kernels.
    """

    PYTHON_SIDE: ClassVar[frozenset[str]] = frozenset()  # names of methods that kernels never call
    Kernel: ClassVar[type]
    _kernel_fields: ClassVar[tuple[tuple[str, Callable[[Any], int | float]], ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # cls has just become a data class
        coercions = [(f.name, _coercion(f)) for f in fields]
        cls._kernel_fields = tuple((name, c) for name, c in coercions if c is not None)
        added = {
            name
            for name, member in vars(cls).items()
            if inspect.isfunction(member) and not name.startswith("__") and name not in cls.PYTHON_SIDE
        }
        parent = cls.__mro__[1]
        inherited = getattr(parent, "Kernel", None)
        # Numba cannot pass a tuple of no fields: a value without fields carries a 0 of no meaning.
        names = [name for name, _ in cls._kernel_fields] or ["nothing"]
        columns = vars(cls).get("COLUMNS")
        if inherited is not None and not added and columns is None and list(inherited._fields) == names:
            return  # nothing that kernels see has changed: the parent's kernels serve
        cls.Kernel = _kernel_tuple_class(cls, names)

    def __post_init__(self) -> None:
        for name, coerce in self._kernel_fields:
            value = getattr(self, name)
            if value is None or isinstance(value, str):
                coerce(value)  # an unknown choice is an error now, not in a kernel
                continue
            object.__setattr__(self, name, coerce(value))
        self.check()

    def check(self) -> None:
        """Raise if the fields are impossible. Subclasses that restrict their fields override this."""

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a data class
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields if f.repr)
        return f"{type(self).__name__}({shown})"

    def kernel_tuple(self) -> Any:
        """The fields as kernels see them."""
        numbers = [coerce(getattr(self, name)) for name, coerce in self._kernel_fields]
        return self.Kernel(*(numbers or [0]))


def choice(*options: str, default: str | None = None) -> Any:
    """A field that holds one of some words; kernels see its number, counted from 0 in the order given."""
    return dataclasses.field(
        default=options[0] if default is None else default, metadata={"choices": options}, kw_only=True
    )


def python_only(default: Any) -> Any:
    """A field that kernels do not see, whatever its type."""
    return dataclasses.field(default=default, metadata={"python_only": True}, kw_only=True)


def _coercion(field: dataclasses.Field[Any]) -> Callable[[Any], int | float] | None:
    """How a field becomes a number for kernels; None if it stays in Python."""
    if field.metadata.get("python_only"):
        return None
    if "choices" in field.metadata:
        return functools.partial(_number_of_choice, field.name, field.metadata["choices"])
    annotation = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    if not isinstance(field.type, (str, type)):
        annotation = str(field.type)
    annotation = annotation.replace("typing.Optional[int]", "int | None").replace("Optional[int]", "int | None")
    kinds = {"int": int, "bool": int, "float": float, "int | None": int}
    if annotation not in kinds:
        return None
    return functools.partial(_number, field.name, kinds[annotation], annotation == "int | None")


def _number(name: str, kind: type, optional: bool, value: Any) -> int | float:
    if value is None and optional:
        return NO_CUTOFF
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, str) or number != value:
        wanted = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {wanted}{' or None' if optional else ''}, not {value!r}")
    return number


def _number_of_choice(name: str, options: tuple[str, ...], value: Any) -> int:
    if value not in options:
        raise SettingsError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}")
    return options.index(value)


def is_foreign(cls: type) -> bool:
    """True for a class that a user wrote: it is compiled in memory, never cached on disk."""
    return cls.__module__.partition(".")[0] != "rankforce"


def _kernel_tuple_class(cls: type, names: list[str]) -> type:
    """The tuple class that stands for ``cls`` in kernels, with its methods."""
    methods = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            hidden = name.startswith("__") or name in getattr(cls, "PYTHON_SIDE", ()) or name in vars(KernelValue)
            if inspect.isfunction(member) and not hidden:
                methods[name] = member
    columns = getattr(cls, "COLUMNS", 0)
    if columns > MOST_COLUMNS:
        raise SettingsError(f"{cls.__name__}.COLUMNS is {columns}; at most {MOST_COLUMNS} columns are possible")
    plain = collections.namedtuple("Kernel", names)  # type: ignore[misc]  # the names are known at run time only
    # Numba's dispatcher tells named tuples apart by name and fields alone, so the name is made unique: two costs
    # with one field sigma, and a class that is defined again in a notebook, must not share compiled code.
    made = type(
        f"{cls.__module__}.{cls.__qualname__}.Kernel{next(_kernel_classes)}",
        (KernelTuple, plain),
        {
            "__slots__": (),
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.Kernel",
            "FOREIGN": is_foreign(cls),
            "COLUMNS": columns,
            **methods,
        },
    )
    for method in methods.values():
        _once_compiling(functools.partial(_make_callable, method, is_foreign(cls)))
    return made


_kernel_classes = itertools.count()
_callable_methods: set[tuple[bool, str]] = set()


def _make_callable(method: Callable[..., Any], foreign: bool, numba: Any) -> None:
    """Let kernels call methods of this name of our tuples: the method of the tuple's own class is compiled in.

    Numba knows one list of parameters per name. Ours agree on one (a test holds this). Users' need not, since classes
    are written apart and again: theirs are called through a function of any arguments, which is compiled, too.
    """
    name = method.__name__
    if (foreign, name) in _callable_methods:
        return
    _callable_methods.add((foreign, name))
    options = {"fastmath": set(VECTOR) if name in VECTOR_METHODS else set(), **NOT_FROM_C}

    def own(self: Any, *arguments: Any) -> Any:
        return getattr(self.instance_class, name, None)

    def users(self: Any, *arguments: Any) -> Any:
        found = own(self)
        if found is None:
            return None
        compiled = numba.extending.register_jitable(**options)(found)

        def implementation(self: Any, *arguments: Any) -> Any:
            return compiled(self, *arguments)

        implementation.__qualname__ = f"method.{name}"
        return implementation

    own.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    numba.extending.overload_method(_kernel_type_class(foreign), name, jit_options=options, strict=False)(
        users if foreign else own
    )


def chosen_by_class(choose: Callable[[type], Callable[..., Any]]) -> Callable[..., Any]:
    """A subroutine whose implementation is chosen by the class of its first argument, when it is compiled.

    ``choose`` gets the class of the kernel tuple and returns a plain function of all the arguments.
    """

    def call(value: Any, *arguments: Any) -> Any:
        return choose(type(value))(value, *arguments)

    def register(numba: Any) -> None:
        def typing(value: Any, *arguments: Any) -> Any:
            ours = isinstance(value, (_kernel_type_class(False), _kernel_type_class(True)))
            return choose(value.instance_class) if ours else None

        numba.extending.overload(call, jit_options={"fastmath": set(VECTOR), **NOT_FROM_C}, strict=False)(typing)

    _once_compiling(register)
    functools.update_wrapper(call, choose)
    return call


@chosen_by_class
def column_of(measure: type) -> Callable[..., Any]:
    """``column_of(measure, columns, p)``: what ``measure.prepare`` wrote for place p, as a tuple of its columns."""
    return _COLUMN_READERS[measure.COLUMNS]  # type: ignore[attr-defined]  # every kernel tuple has it


# Numba builds tuples of a length known when it compiles: one reader per number of columns.
_COLUMN_READERS: tuple[Callable[..., Any], ...] = (
    lambda measure, columns, p: (0.0,),
    lambda measure, columns, p: (columns[0, p],),
    lambda measure, columns, p: (columns[0, p], columns[1, p]),
    lambda measure, columns, p: (columns[0, p], columns[1, p], columns[2, p]),
    lambda measure, columns, p: (columns[0, p], columns[1, p], columns[2, p], columns[3, p]),
    lambda measure, columns, p: (columns[0, p], columns[1, p], columns[2, p], columns[3, p], columns[4, p]),
    lambda measure, columns, p: (
        columns[0, p], columns[1, p], columns[2, p], columns[3, p], columns[4, p], columns[5, p],
    ),
)  # fmt: skip


# --------------------------------------------------------------------------------------------------- the Numba side


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


@functools.cache
def _kernel_type_class(foreign: bool) -> Any:
    """Numba's type of our tuples, and of those of users' classes. Nobody else's named tuple is touched."""
    numba = compiler_without_registration()
    from numba.core import datamodel
    from numba.core.datamodel import models

    class KernelType(numba.types.NamedTuple):  # type: ignore[name-defined]
        def __init__(self, types: Any, cls: type) -> None:
            super().__init__(types, cls)
            self.name = f"{cls.__module__}.{cls.__qualname__}{self.types}"

        @property
        def key(self) -> Any:
            return self.instance_class, self.types

        @property
        def mangling_args(self) -> Any:
            # Symbols must name the class and the method: Numba tells functions of one process apart by a counter,
            # and a library from the cache brings the counters of another process along.
            return f"{self.instance_class.__module__}.{self.instance_class.__qualname__}", tuple(self.types)

    KernelType.__name__ = KernelType.__qualname__ = "ForeignKernelType" if foreign else "KernelType"
    globals()[KernelType.__name__] = KernelType  # importable by name: cached kernels are pickled by reference to it
    model = getattr(models, "NamedTupleModel", None) or datamodel.default_manager._handlers[numba.types.NamedTuple]
    numba.extending.register_model(KernelType)(model)

    return KernelType


def _type_kernel_tuples(numba: Any) -> None:
    @numba.extending.typeof_impl.register(KernelTuple)
    def _(value: Any, context: Any) -> Any:
        return _kernel_type_class(value.FOREIGN)([numba.typeof(number) for number in value], type(value))


_once_compiling(_type_kernel_tuples)


def compiler_without_registration() -> Any:
    """The numba module, for the registrations themselves."""
    import numba
    import numba.extending

    return numba


def __getattr__(name: str) -> Any:
    """Numba's types of our tuples, which are made when they are named."""
    if name in ("KernelType", "ForeignKernelType"):
        return _kernel_type_class(name == "ForeignKernelType")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def cpu_target() -> str:
    """The processor that kernels are compiled for: vectorised sums may differ in the last bit between targets."""
    if PLAIN:
        return "plain"
    compiler()
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_host_cpu_name()}-{hashlib.sha256(features.encode()).hexdigest()[:12]}"
