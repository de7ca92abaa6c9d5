"""Values whose methods kernels can call: measures and λ-functions.

A ``KernelValue`` is a frozen class that kernels see as a small tuple of its numeric fields, under a Numba type of our
own, with its methods. Classes of this package are cached on disk; users' classes are compiled in memory: in the disk
cache they would make every process fail that cannot import them, and their edits would go unseen. Every index in them
is checked.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from rankforce.compiling.compilers import function_compiler, method_compiler
from rankforce.compiling.jit import NOT_FROM_C, VECTOR, KernelTuple, once_compiling
from rankforce.compiling.method_sources import sources
from rankforce.errors import RankforceError, SettingsError
from rankforce.kinds import check_choice, shown

# Methods called in the innermost pair loop, compiled with these flags; no other method is.
VECTOR_METHODS = frozenset({"swap_delta", "pair", "strength"})

NO_CUTOFF = 2**31 - 1
_LARGEST = 2**63 - 1  # kernels count in 64 bits with sign
MOST_COLUMNS = 6


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class KernelValue:
    """Base of measures and λ-functions: a frozen value class that kernels can use.

    Subclasses are data classes: equality and hash include the class. ``kernel_tuple()`` is what a kernel is given:
    the fields annotated ``int``, ``float``, ``bool`` or ``int | None`` (None means no limit) as numbers, and each
    ``choice`` field as the number of the choice. Other fields stay in Python. All methods that a subclass adds are
    callable in kernels.

    A subclass that changes nothing that kernels see (no method of theirs, no field) shares its parent's kernels.
    """

    PYTHON_SIDE: ClassVar[frozenset[str]] = frozenset()  # names of methods that kernels never call
    REQUIRED: ClassVar[tuple[str, ...]] = ()  # methods that a class must have to be more than a base of others
    ERROR: ClassVar[type[RankforceError]] = SettingsError  # of what is wrong with a class
    BOUNDS_CHECKS: ClassVar[bool] = True  # whether every index in a user's methods is checked; False: none is
    Kernel: ClassVar[Any]
    _kernel_fields: ClassVar[tuple[tuple[str, Callable[[Any], int | float]], ...]] = ()
    _made_from: ClassVar[tuple[Any, ...]] = ()  # what a user's methods were when they were last used

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
        changed = added or "COLUMNS" in vars(cls) or "BOUNDS_CHECKS" in vars(cls)
        if inherited is not None and not changed and list(inherited._fields) == names:
            return  # nothing that kernels see has changed: the parent's kernels serve
        cls.Kernel = _kernel_tuple_class(cls, names)

    def __post_init__(self) -> None:
        missing = _missing_methods(type(self))
        if missing:
            raise self.ERROR(
                f"{type(self).__name__} has no method {' and no method '.join(missing)}: define "
                f"{'it' if len(missing) == 1 else 'both'} in the class"
            )
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
        if self.Kernel.FOREIGN:
            _see_edits(type(self))
        numbers = [coerce(getattr(self, name)) for name, coerce in self._kernel_fields]
        return self.Kernel(*(numbers or [0]))


def _missing_methods(value_class: type[KernelValue]) -> list[str]:
    return [name for name in value_class.REQUIRED if not callable(getattr(value_class, name, None))]


def is_complete(value_class: type[KernelValue]) -> bool:
    """Whether a class is more than a base of others: it has the methods that it must have."""
    return bool(value_class.REQUIRED) and not _missing_methods(value_class)


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
    return functools.partial(_number, field.name, kinds[annotation], annotation)


def _number(name: str, kind: type, annotation: str, value: Any) -> int | float:
    optional = annotation == "int | None"
    if value is None and optional:
        return NO_CUTOFF
    number = None
    truth = isinstance(value, (bool, np.bool_))  # NDCG(True) is no NDCG@1
    if isinstance(value, (int, float, np.generic)) and (annotation == "bool" or not truth):
        try:
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            number = None
    if number is None or number != value:
        wanted = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {wanted}{' or None' if optional else ''}, not {shown(value)}")
    if kind is int and abs(number) > _LARGEST:
        raise SettingsError(f"{name} must be a whole number of at most 64 bits, not {shown(value)}")
    return number


def _number_of_choice(name: str, options: tuple[str, ...], value: Any) -> int:
    check_choice(name, value, options)
    return options.index(value)


def is_foreign(cls: type) -> bool:
    """True for a class that a user wrote: it is compiled in memory, never cached on disk."""
    return cls.__module__.partition(".")[0] != "rankforce"


def _kernel_methods(cls: type[KernelValue]) -> dict[str, Callable[..., Any]]:
    """The methods that kernels can call, as the class has them now."""
    methods: dict[str, Callable[..., Any]] = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            hidden = name.startswith("__") or name in getattr(cls, "PYTHON_SIDE", ()) or name in vars(KernelValue)
            if inspect.isfunction(member) and not hidden:
                methods[name] = member
    return methods


def _see_edits(cls: type[KernelValue]) -> None:
    """Give a user's class another tuple, and so another compiled form, if its methods are not what they were.

    Noted at its first use, not at its definition: until then names that its methods use may still be defined.
    """
    users = [base for base in cls.__mro__ if is_foreign(base)]
    made_from = sources(member for base in users for member in vars(base).values() if inspect.isfunction(member))
    compiled = {name: member for name, member in vars(cls.Kernel).items() if inspect.isfunction(member)}
    if compiled != _kernel_methods(cls) or vars(cls).get("_made_from", made_from) != made_from:
        cls.Kernel = _kernel_tuple_class(cls, list(cls.Kernel._fields))
    cls._made_from = made_from


def _kernel_tuple_class(cls: type[KernelValue], names: list[str]) -> Any:
    """The tuple class that stands for ``cls`` in kernels, with its methods."""
    methods = _kernel_methods(cls)
    columns = getattr(cls, "COLUMNS", 0)
    if columns > MOST_COLUMNS:
        raise SettingsError(f"{cls.__name__}.COLUMNS is {columns}; at most {MOST_COLUMNS} columns are possible")
    field_tuple = collections.namedtuple("Kernel", names)  # type: ignore[misc]  # the names are known at run time only
    # Numba's dispatcher tells named tuples apart by name and fields alone, so the name is made unique: two λ-functions
    # with one field sigma, and a class that is defined again in a notebook, must not share compiled code.
    tuple_class = type(
        f"{cls.__module__}.{cls.__qualname__}.Kernel{next(_kernel_classes)}",
        (KernelTuple, field_tuple),
        {
            "__slots__": (),
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.Kernel",
            "FOREIGN": is_foreign(cls),
            "ERROR": cls.ERROR,
            "COLUMNS": columns,
            "BOUNDS_CHECKS": cls.BOUNDS_CHECKS,
            **methods,
        },
    )
    for method in methods.values():
        once_compiling(functools.partial(_make_callable, method, is_foreign(cls)))
    return tuple_class


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
    fastmath = set(VECTOR) if name in VECTOR_METHODS else set()
    options = {"fastmath": fastmath, "pipeline_class": function_compiler(), **NOT_FROM_C}
    checked_options = options | {"boundscheck": True, "pipeline_class": method_compiler()}

    def own(self: Any, *arguments: Any) -> Any:
        return getattr(self.instance_class, name, None)

    def users(self: Any, *arguments: Any) -> Any:
        source = own(self)
        if source is None:
            return None
        # Of a copy: what Numba knows of a function it knows for good, also after an edit in place.
        copy = types.FunctionType(
            source.__code__, source.__globals__, source.__name__, source.__defaults__, source.__closure__
        )
        compiled = numba.extending.register_jitable(
            **(checked_options if self.instance_class.BOUNDS_CHECKS else options)
        )(copy)

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

        options = {"fastmath": set(VECTOR), "pipeline_class": function_compiler(), **NOT_FROM_C}
        numba.extending.overload(call, jit_options=options, strict=False)(typing)

    once_compiling(register)
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


@functools.cache
def _kernel_type_class(foreign: bool) -> Any:
    """Numba's type of our tuples, and of those of users' classes. Nobody else's named tuple is touched."""
    import numba
    import numba.extending
    from numba.core import datamodel
    from numba.core.datamodel import models

    class KernelType(numba.types.NamedTuple):
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


once_compiling(_type_kernel_tuples)


def __getattr__(name: str) -> Any:
    """Numba's types of our tuples, which are made when they are named."""
    if name in ("KernelType", "ForeignKernelType"):
        return _kernel_type_class(name == "ForeignKernelType")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
