"""Whether two pieces of a user's code are the same: functions, classes and objects by what they do.

An identity is a digest for every function, class, object and value that some code reaches: its operations, constants,
defaults, closures, the globals that it reads, bases and members of classes, contents of objects; and so on for what
these reach. It is the same in every process of one version of Python: no address, file name, line number or order of
hashing is in it. Code of libraries counts by name and version.

What cannot be compared between processes (compiled code, a lock, a file) has no identity, unless the user gives one:
``code_version``, an attribute of a function, class or object, stands for all of it.
"""

from __future__ import annotations

import builtins
import copyreg
import dataclasses
import functools
import hashlib
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rankforce.compiling.jit import KernelTuple
from rankforce.errors import RankforceError
from rankforce.user_code.bytecode import Constant, closures_read, globals_read, imports, operations, signature
from rankforce.user_code.installed_code import library_of, library_stamp

VERSION = "code_version"

_ATOMS = (type(None), bool, int, float, complex, str, bytes, bytearray, range, type(...), type(NotImplemented))
_OF_MODULES = frozenset(dir(types.ModuleType("any"))) | {"__builtins__", "__file__", "__cached__", "__path__"}
_OF_CLASSES = frozenset(  # what Python adds to a class, or what says where it stands
    {
        "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__firstlineno__",
        "__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__parameters__",
        "__orig_bases__", "__slotnames__", "__dataclass_fields__", "__dataclass_params__", "_abc_impl",
    }
)  # fmt: skip
_COMPILED_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


class NoIdentityError(RankforceError):
    """Something in the code cannot be compared between processes."""

    def __init__(self, what: str, reason: str) -> None:
        self.parts = what, reason
        super().__init__(
            f"{what} {reason}. Give a function, class or object that holds it an attribute {VERSION}, and another "
            f"value whenever it changes: {VERSION} = 1 in a class, name.{VERSION} = 1 after a function"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return NoIdentityError, self.parts


@dataclasses.dataclass(frozen=True)
class CodeIdentity:
    """What some value is.

    content : of the value itself, naming the parts that it refers to
    parts : a digest of everything that was reached and is more than a plain value, by a name for people
    """

    content: str
    parts: dict[str, str]

    @classmethod
    def of(cls, value: Any, name: str) -> CodeIdentity:
        """The identity of a value that is called ``name``; raises ``NoIdentityError`` if it has none."""
        walk = _CodeWalk()
        try:
            content = walk.content(value, name, "")
        except RecursionError:
            raise NoIdentityError(name, "is nested too deeply to be compared") from None
        return cls(content, dict(sorted(walk.parts.items())))


def differing(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of the parts that differ, those that both have first."""
    changed = [name for name in then if name in now and then[name] != now[name]]
    return changed + sorted(then.keys() ^ now.keys())


class _CodeWalk:
    """One pass over everything that a value reaches. Parts refer to each other by name, so that cycles end."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self._names: dict[int, str] = {}  # id: name of the part
        self._reached: list[Any] = []  # kept alive, so that no id is used twice
        self._open: list[int] = []  # ids of the containers that are being read
        self._path: list[str] = []  # names of the parts that are being read

    # ------------------------------------------------------------------------------------------------ parts by name

    def part(self, value: Any, name: str, owner: str) -> str:
        """The name of the part that a global, a default or a member is, and that it has become."""
        if id(value) not in self._names and _is_plain(value):
            return self._add(name, owner, lambda place: self.content(value, name, place))
        return self.content(value, name, owner)

    def _add(self, name: str, owner: str, digest: Callable[[str], str], value: Any = None) -> str:
        text = unused = f"{name} of {owner}" if owner else name
        number = 1
        while unused in self.parts:
            number += 1
            unused = f"{text} ({number})"
        self.parts[unused] = ""
        if value is not None:
            self._names[id(value)] = unused
            self._reached.append(value)
        self._path.append(unused)
        self.parts[unused] = digest(name)
        self._path.pop()
        return f"→{unused}"

    def _here(self, name: str) -> str:
        return self._path[-1] if self._path else name

    # ---------------------------------------------------------------------------------------------- plain values

    def content(self, value: Any, name: str, owner: str) -> str:
        """A value as text: a digest of what it holds, or the name of the part that it is."""
        kind = type(value)
        if kind in _ATOMS:
            return _digest("atom", kind.__name__, repr(value))
        if id(value) in self._names:
            return f"→{self._names[id(value)]}"
        library = library_of(value)
        if library is not None and not library.stamp:
            return _digest("library", library.name)
        if id(value) in self._open:
            return f"↑{len(self._open) - self._open.index(id(value))}"
        self._open.append(id(value))
        try:
            if kind in (tuple, list):
                return _digest(kind.__name__, *(self.content(item, name, owner) for item in value))
            if kind in (set, frozenset):
                return _digest(kind.__name__, *sorted(self.content(item, name, owner) for item in value))
            if kind in (dict, types.MappingProxyType):
                return _digest("dict", *self._items(value.items(), name, owner))
            if isinstance(value, np.generic) or kind is np.ndarray:
                return self._numbers(np.asarray(value), kind.__name__, name, owner)
            if _package(kind) == "torch" and hasattr(value, "detach"):  # pickled, it would keep how it is stored
                return self._numbers(value.detach().cpu().numpy(), kind.__name__, name, owner)
            if kind is slice:
                return _digest("slice", self.content((value.start, value.stop, value.step), name, owner))
            if isinstance(value, np.dtype):
                return _digest("dtype", repr(value))
            if isinstance(value, types.CodeType):
                return self._code(value, name, owner)
            if _package(kind) == "rankforce" and library_of(kind) is not None:
                return self._ours(value, name, owner)
        finally:
            self._open.pop()
        return self._add(name, owner, lambda place: self._thing(value, place), value)

    def _items(self, items: Iterable[tuple[Any, Any]], name: str, owner: str) -> Iterator[str]:
        for key, item in items:
            yield self.content(key, name, owner)
            yield self.content(item, str(key) if isinstance(key, str) else name, owner)

    def _numbers(self, array: np.ndarray, kind: str, name: str, owner: str) -> str:
        if array.dtype.hasobject:
            return _digest(kind, repr(array.dtype), repr(array.shape), self.content(array.tolist(), name, owner))
        return _digest(kind, repr(array.dtype), repr(array.shape), np.ascontiguousarray(array).tobytes())

    def _ours(self, value: Any, name: str, owner: str) -> str:
        """A measure, an objective, a data set: written forms say what it is, but for the functions that it holds."""
        fingerprint = getattr(value, "fingerprint", None)
        if isinstance(fingerprint, str):
            return _digest("fingerprint", type(value).__name__, fingerprint)
        return _digest("ours", *self._reduced(value, name, owner))

    # ------------------------------------------------------------------------------------------- code, and objects

    def _thing(self, value: Any, name: str) -> str:
        library = library_of(value)
        if library is not None:
            return _digest("library", *library)
        if isinstance(value, types.ModuleType):
            return self._module(value, name)
        version = getattr(value, "__dict__", {}).get(VERSION)
        if version is not None:
            return _digest("version", repr(version))
        if isinstance(value, type):
            return self._class(value, name)
        if isinstance(value, types.FunctionType):
            return self._function(value, name)
        return _digest("object", *self._object(value, name))

    def _object(self, value: Any, name: str) -> Iterable[str]:
        if _package(type(value)) == "numba" and (hasattr(value, "py_func") or hasattr(value, "_dispatcher")):
            function = value.py_func if hasattr(value, "py_func") else value._dispatcher
            options = getattr(value, "targetoptions", {})
            return type(value).__name__, self.content(options, "options", name), self.part(function, "function", name)
        for kind, attributes in _WRAPPERS.items():
            if isinstance(value, kind):
                values = [getattr(value, attribute) for attribute in attributes]
                return kind.__name__, *(self.content(inner, _own_name(inner, name), name) for inner in values)
        if isinstance(value, np.ufunc):
            return (self._ufunc(value, name),)
        if isinstance(value, _COMPILED_METHODS):
            library = library_of(value.__objclass__)
            if library is not None:
                return *library, value.__name__
        if isinstance(value, types.MemberDescriptorType):
            return "slot", value.__name__
        held_by = getattr(value, "__self__", None)
        if isinstance(value, types.BuiltinFunctionType) and not isinstance(held_by, (types.ModuleType, type(None))):
            return value.__name__, self.content(held_by, name, name)
        return self._reduced(value, name, name)

    def _reduced(self, value: Any, name: str, owner: str) -> Iterator[str]:
        """What pickling would keep of an object, by value."""
        try:
            reduced = copyreg.dispatch_table.get(type(value), lambda one: one.__reduce_ex__(4))(value)
        except Exception as error:
            raise NoIdentityError(self._here(name), f"cannot be compared between processes ({error})") from None
        if not isinstance(reduced, tuple):
            raise NoIdentityError(self._here(name), "is compiled code, whose edits cannot be seen")
        made_by, arguments, *rest = reduced
        yield self.content(made_by, name, owner)
        yield from (self.content(argument, _own_name(argument, name), owner) for argument in arguments)
        for state in rest[:1]:
            yield from self._state(state, owner)
        for items in rest[1:3]:  # those of a list, and of a mapping
            yield from (self.content(item, name, owner) for item in items or ())

    def _state(self, state: Any, owner: str) -> Iterator[str]:
        """The attributes of an object, in whatever order they were set."""
        for attributes in state if isinstance(state, tuple) else (state,):
            if isinstance(attributes, dict) and all(isinstance(name, str) for name in attributes):
                for name, value in sorted(attributes.items()):
                    yield name
                    yield self.content(value, name, owner)
            else:
                yield self.content(attributes, "state", owner)

    def _ufunc(self, value: Any, name: str) -> str:
        called = value.__name__
        for module in ("numpy", "scipy.special"):
            if value is getattr(sys.modules.get(module), called, None):
                return f"{module}.{called} {library_stamp(module)}"
        raise NoIdentityError(self._here(name), "is a compiled function of arrays, whose edits cannot be seen")

    def _module(self, module: types.ModuleType, name: str) -> str:
        """A module of the user's that is handed on as a whole: all that it holds."""
        held = sorted((key, value) for key, value in vars(module).items() if key not in _OF_MODULES)
        return _digest("module", *(text for key, value in held for text in (key, self.part(value, key, name))))

    def _class(self, cls: type, name: str) -> str:
        texts = [self.content(type(cls), "metaclass", name)]
        texts += [self.content(base, _own_name(base, name), name) for base in cls.__bases__]
        for key, member in sorted(vars(cls).items()):
            kernel = isinstance(member, type) and issubclass(member, KernelTuple)  # made of the other members
            if key in _OF_CLASSES or kernel:
                continue
            if isinstance(member, _COMPILED_METHODS) and member.__objclass__ is cls:
                raise NoIdentityError(f"{key} of {name}", "is compiled code, whose edits cannot be seen")
            texts += [key, self.part(member, key, name)]
        for key, field in vars(cls).get("__dataclass_fields__", {}).items():
            texts += [key, self.content(dict(field.metadata), key, name)]
        return _digest("class", *texts)

    def _function(self, function: types.FunctionType, name: str) -> str:
        module = function.__globals__.get("__name__")
        stamp = library_stamp(module) if isinstance(module, str) else None
        code = function.__code__
        if stamp is None:
            texts = [self._code(code, name, name), *self._outside(function, name)]
        else:  # a library's, around what the user gave it
            texts = [str(module), code.co_qualname, stamp]
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            texts += [variable, self._cell(function, variable, cell, name)]
        parameters = code.co_varnames[: code.co_argcount]
        defaults = function.__defaults__ or ()
        named = [*zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True)]
        for parameter, value in [*named, *sorted((function.__kwdefaults__ or {}).items())]:
            texts += [parameter, self.part(value, f"the default {parameter}", name)]
        for key, value in sorted(vars(function).items()):
            texts += [key, self.part(value, key, name)]
        return _digest("function", *texts)

    def _code(self, code: types.CodeType, name: str, owner: str) -> str:
        texts = list(map(repr, signature(code)))
        for operation, argument in operations(code):
            texts.append(operation)
            if isinstance(argument, Constant):
                texts.append(self.content(argument.value, name, owner))
            else:
                texts.append(repr(argument))
        return _digest("code", *texts)

    def _outside(self, function: types.FunctionType, name: str) -> Iterator[str]:
        """What a function reads from its module, from Python, and from what it imports."""
        for variable, chains in sorted(globals_read(function.__code__).items()):
            if variable in _OF_MODULES:
                continue
            yield variable
            if variable in function.__globals__:
                yield from self._followed(function.__globals__[variable], variable, chains, name)
            else:
                yield "built in" if hasattr(builtins, variable) else "nowhere"
        for imported in imports(function.__code__):
            yield imported.module
            package = function.__globals__.get("__package__") or ""
            try:
                module = importlib.import_module("." * imported.level + imported.module, package or None)
            except Exception:  # whatever goes wrong in a module that is imported
                yield "nowhere"
                continue
            chains = {(attribute,) for attribute in imported.names} or {()}
            yield from self._followed(module, imported.module, chains, name)

    def _cell(self, function: types.FunctionType, variable: str, cell: Any, name: str) -> str:
        try:
            value = cell.cell_contents
        except ValueError:
            return "empty"
        return _digest(*self._followed(value, variable, closures_read(function.__code__).get(variable, {()}), name))

    def _followed(self, value: Any, variable: str, chains: Iterable[tuple[str, ...]], owner: str) -> Iterator[str]:
        """A value under its name; of a user's module only what the chains of attributes after its name reach."""
        if not isinstance(value, types.ModuleType) or library_of(value) is not None:
            yield self.part(value, variable, owner)
            return
        for chain in sorted(chains):
            reached, rest, path = value, list(chain), variable
            while rest and isinstance(reached, types.ModuleType) and hasattr(reached, rest[0]):
                path = f"{path}.{rest[0]}"
                reached = getattr(reached, rest.pop(0))
            yield path
            yield self.part(reached, path, owner)


_WRAPPERS: dict[type, tuple[str, ...]] = {  # what holds a function without being one: by these attributes
    functools.partial: ("func", "args", "keywords"),
    types.MethodType: ("__func__", "__self__"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    type(functools.cache(len)): ("__wrapped__",),
}


def _is_plain(value: Any) -> bool:
    """Whether a value is no part by itself: numbers, text, and what holds several."""
    return type(value) in (*_ATOMS, tuple, list, set, frozenset, dict, np.ndarray) or isinstance(value, np.generic)


def _own_name(value: Any, otherwise: str) -> str:
    """What a class or function is called where it is reached without a name."""
    name = value.__name__ if isinstance(value, (type, types.FunctionType)) else otherwise
    return otherwise if name == "<lambda>" else name


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _digest(*texts: str | bytes) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for text in texts:
        encoded = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
        digest.update(b"%d " % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()
