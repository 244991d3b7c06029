"""Data classes that cost little to define: those of the standard library, made as far as they are needed.

The library writes and compiles up to six methods for each class, and for hundreds of classes that takes longer than to
judge a short capture. Here a class has its slots at once; `__init__` is compiled when more than a few objects were
made, and the other methods are the same functions for all classes. `dataclass`, `field` and `replace` mean what they
mean there, as far as this package uses them (every class has slots), and the library's own functions take the objects
for theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from validator import loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_: object) -> Callable[[T], T]:
        """At run time nobody asks for what it tells those who check types."""
        return lambda function: function


_ABSENT: Any = object()
_set = object.__setattr__


class _Field:
    """A default that every object gets a new one of."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Any]):
        self.factory = factory


def field(*, default_factory: Callable[[], Any]) -> Any:
    """The default of a field, made anew for every object."""
    return _Field(default_factory)


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """Makes a class with slots of one that lists its fields; `slots` is always True, and said as elsewhere."""

    if not slots:
        raise TypeError("a data class without slots is one of the standard library")

    def make(cls: type[T]) -> type[T]:
        own = cls.__annotations__
        methods: dict[str, Any] = {"__repr__": _repr, "__reduce__": _reduce}
        if eq:
            methods |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        return _define(cls, own, methods, frozen)

    return make


def _define(cls: type[T], own: dict[str, Any], methods: dict[str, Any], frozen: bool) -> type[T]:
    """The class anew, because slots can be given to a new one only."""
    written = cls.__dict__
    defaults = {**getattr(cls, "__defaults__", {}), **{name: written[name] for name in own if name in written}}
    names = tuple(dict.fromkeys((*getattr(cls, "__match_args__", ()), *own)))
    body = {name: value for name, value in written.items() if name not in own and name not in _REMADE}
    made = type(cls)(
        cls.__name__,
        cls.__bases__,
        {
            "__qualname__": cls.__qualname__,
            **{name: method for name, method in methods.items() if name not in written},
            **body,
            "__slots__": tuple(own),
            "__match_args__": names,
            "__defaults__": defaults,
            "__values__": attrgetter(*names),
            "__dataclass_fields__": _Fields(),
        },
    )
    made.__init__ = _first(made, frozen)
    return made


_REMADE = {"__dict__", "__weakref__"}


_FEW = 12
"""Objects up to which a class is not worth an `__init__` of its own: to compile one takes as long as to fill forty."""


def _first(cls: type, frozen: bool) -> Callable[..., None]:
    """An `__init__` for the first few objects; then one that is compiled takes its place."""
    left = _FEW

    def first(self: Any, *args: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 or not _fill(cls, self, args, named):
            cls.__init__ = _compiled(cls, frozen)
            cls.__init__(self, *args, **named)

    return first


def _fill(cls: type, record: Any, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Sets the fields of an object; False where the arguments are not plainly right, so that they are refused."""
    names = cls.__match_args__
    if not named and len(args) == len(names):
        for name, value in zip(names, args, strict=True):
            _set(record, name, value)
        return True
    values = cls.__defaults__ | dict(zip(names, args, strict=False)) | named
    if len(args) > len(names) or len(values) != len(names) or not named.keys().isdisjoint(names[: len(args)]):
        return False
    for name in names:
        if name not in values:
            return False
        value = values[name]
        _set(record, name, value.factory() if isinstance(value, _Field) else value)
    return True


def _compiled(cls: type, frozen: bool) -> Callable[..., None]:
    """An `__init__` that takes the fields in their order and sets each."""
    scope: dict[str, Any] = {"_absent": _ABSENT}
    parameters, lines = ["self"], []
    for name in cls.__match_args__:
        default, value = cls.__defaults__.get(name, _ABSENT), name
        if isinstance(default, _Field):
            scope[f"_{name}_"], default = default.factory, _ABSENT
            parameters.append(f"{name}=_absent")
            value = f"_{name}_() if {name} is _absent else {name}"
        elif default is not _ABSENT:
            scope[f"_{name}_"] = default
            parameters.append(f"{name}=_{name}_")
        else:
            parameters.append(name)
        if frozen:
            scope[f"_set_{name}"] = getattr(cls, name).__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"self.{name} = {value}")
    exec(loading.compiled(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines)), scope)
    return scope["__init__"]


def replace(record: T, **changes: Any) -> T:
    """The same with some fields changed."""
    return record.__class__(**{name: getattr(record, name) for name in record.__match_args__} | changes)


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = self.__values__
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(self.__values__(self))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{self.__class__.__qualname__}({fields})"


def _reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
    return self.__class__, tuple(getattr(self, name) for name in self.__match_args__)


def _refuse(self: Any, name: str, _value: Any = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _Fields:
    """What the standard library knows a data class by; made when it asks."""

    def __get__(self, _instance: Any, cls: type) -> dict[str, Any]:
        import dataclasses

        def given(name: str) -> Any:
            default = cls.__defaults__.get(name, dataclasses.MISSING)
            if isinstance(default, _Field):
                return dataclasses.field(default_factory=default.factory)
            return dataclasses.field(default=default)

        rows = [(name, object, given(name)) for name in cls.__match_args__]
        cls.__dataclass_fields__ = dataclasses.make_dataclass(cls.__name__, rows).__dataclass_fields__
        return cls.__dataclass_fields__
