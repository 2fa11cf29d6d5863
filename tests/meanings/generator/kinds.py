"""Types of random specs: what the generator knows of a type, and how it is written."""

from __future__ import annotations

from msgspec import Struct


class Kind(Struct, frozen=True):
    """A type.

    `form`: bool, number, enum, node, identity, option, set, map, sequence, bag or record. `text`: how it is written;
    empty where it has no name that another place could write (an enum that stands in a field's declaration).
    `parts`: element, or key and value. `low`, `high`: of numbers; of a node, its number of nodes is `high`.
    """

    form: str
    text: str
    parts: tuple[Kind, ...] = ()
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    fields: tuple[tuple[str, Kind], ...] = ()
    ordered: bool = False

    @property
    def element(self) -> Kind:
        """What a collection or option holds; of a map its values."""
        return self.parts[-1]

    @property
    def comparable(self) -> bool:
        """Whether `<` means something."""
        return self.form == "number" or self.ordered or self.form == "enum"


BOOL = Kind("bool", "bool")


def number(low: int, high: int) -> Kind:
    """A range of whole numbers."""
    return Kind("number", f"{low}..{high}", low=low, high=high)


def counter(high: int) -> Kind:
    """A number that is a bound of the exploration."""
    return Kind("number", f"counter up to {high}", low=0, high=high)


def option(element: Kind) -> Kind:
    """Nothing, or one."""
    return Kind("option", element.text and f"{element.text}?", (element,))


def set_of(element: Kind) -> Kind:
    """A set of scalars."""
    return Kind("set", element.text and f"set of {element.text}", (element,))


def map_to(key: Kind, value: Kind) -> Kind:
    """A value for every key."""
    return Kind("map", key.text and value.text and f"map {key.text} to {value.text}", (key, value))


def sequence_of(element: Kind, capacity: int) -> Kind:
    """A list."""
    text = element.text and f"sequence of {element.text} up to {capacity}"
    return Kind("sequence", text, (element,), high=capacity)


def bag_of(element: Kind, capacity: int) -> Kind:
    """A collection that counts."""
    return Kind("bag", element.text and f"bag of {element.text} up to {capacity}", (element,), high=capacity)


def names_identity(kind: Kind) -> bool:
    """Whether values of the type may hold identities."""
    return (
        kind.form == "identity"
        or any(names_identity(part) for part in kind.parts)
        or any(names_identity(part) for _, part in kind.fields)
    )


def fits(wanted: Kind, found: Kind) -> bool:
    """Whether a place of one type takes a value of another; ranges of numbers are checked when they are stored."""
    if wanted.form == "number":
        return found.form == "number"
    if wanted.form == found.form == "option":
        return fits(wanted.element, found.element)
    return wanted == found
