"""`dataclass`, as in the standard library but cheap to declare: what all data of hacheck is declared with.

The standard decorator compiles half a dozen methods while a class is declared, half a millisecond for each class; a
start of hacheck declares some two hundred. Here a method is compiled when it is first called, and slots are written
directly. Type checkers see the standard decorator, and `fields`, `replace` and pickling work as with it.

Supported is what is used here: classes with slots, without `__post_init__`, `ClassVar` or generated order, in modules
with `from __future__ import annotations`; a base class has its fields from this decorator.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, is_dataclass, replace
else:
    from copy import copy
    from dataclasses import MISSING, FrozenInstanceError, field, fields, is_dataclass, replace
    from dataclasses import dataclass as standard

    @standard
    class _Pattern:
        some: int

    def dataclass(*, frozen=False, slots, eq=True):
        """A class of fields as the standard decorator makes it."""
        assert slots, "classes here have slots"
        return lambda plain: _made(plain, frozen, eq)

    def _made(plain, frozen, eq):
        space = {name: item for name, item in plain.__dict__.items() if name not in ("__dict__", "__weakref__")}
        written = plain.__annotations__ if sys.version_info >= (3, 14) else space.get("__annotations__", {})
        own = {name: _field(name, kind, space.pop(name, MISSING)) for name, kind in written.items()}
        described = getattr(plain.__base__, "__dataclass_fields__", {}) | own
        space |= {
            "__qualname__": plain.__qualname__,
            "__slots__": tuple(own),
            "__match_args__": tuple(described),
            "__dataclass_fields__": described,
        }
        methods = {"__init__": _init_of, "__repr__": _repr_of}
        if frozen:
            space |= {
                "__setattr__": _refused,
                "__delattr__": _refused,
                "__getstate__": _state,
                "__setstate__": _restored,
            }
        if eq:
            methods |= {"__eq__": _eq_of, "__hash__": _hash_of} if frozen else {"__eq__": _eq_of}
            space.setdefault("__hash__", None)
        methods = {name: source for name, source in methods.items() if space.get(name) is None}
        made = type(plain)(plain.__name__, plain.__bases__, space)
        for name, source in methods.items():
            setattr(made, name, _first_call(made, name, source))
        return made

    def _field(name, kind, default):
        """What the standard library keeps of a field."""
        made = copy(_Pattern.__dataclass_fields__["some"])
        if isinstance(default, type(made)):
            made.default, made.default_factory = default.default, default.default_factory
        else:
            made.default = default
        made.name, made.type = name, kind
        return made

    def _first_call(made, name, source):
        """A method that compiles the real one, puts it in its own place, and calls it."""

        def method(*arguments, **named):
            space = {}
            exec(source(made, space), space)
            setattr(made, name, space[name])
            return space[name](*arguments, **named)

        return method

    def _init_of(made, space):
        parameters, lines = [], []
        for name, described in made.__dataclass_fields__.items():
            space[f"_set_{name}"] = getattr(made, name).__set__
            if described.default is not MISSING:
                space[f"_default_{name}"] = described.default
                parameters.append(f"{name}=_default_{name}")
            elif described.default_factory is not MISSING:
                space |= {f"_make_{name}": described.default_factory, "_missing": MISSING}
                parameters.append(f"{name}=_missing")
                lines.append(f" if {name} is _missing: {name} = _make_{name}()")
            else:
                parameters.append(name)
            lines.append(f" _set_{name}(_self, {name})")
        return "\n".join([f"def __init__({', '.join(['_self', *parameters])}):", *(lines or [" pass"])])

    def _repr_of(made, space):
        inside = ", ".join(f"{name}={{self.{name}!r}}" for name in made.__dataclass_fields__)
        return f"def __repr__(self): return f'{{type(self).__qualname__}}({inside})'"

    def _eq_of(made, space):
        mine, other = (_tuple(made, of) for of in ("self", "other"))
        result = f"{mine} == {other} if other.__class__ is self.__class__ else NotImplemented"
        return f"def __eq__(self, other): return {result}"

    def _hash_of(made, space):
        return f"def __hash__(self): return hash({_tuple(made, 'self')})"

    def _tuple(made, of):
        return f"({''.join(f'{of}.{name},' for name in made.__dataclass_fields__)})"

    def _refused(self, name, *_):
        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in self.__dataclass_fields__]

    def _restored(self, state):
        for name, item in zip(self.__dataclass_fields__, state, strict=True):
            object.__setattr__(self, name, item)


__all__ = ["dataclass", "field", "fields", "is_dataclass", "replace"]
