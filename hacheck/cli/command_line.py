"""What a command takes on its command line, as data beside the parameters of its function.

A plain command line is read right here, by `read`. Whatever needs more (help, completion, something wrong) goes to
typer, for which `typed` makes the same declarations: loading it takes longer than most checks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from msgspec import Struct

Function: TypeAlias = Callable[..., None]


DIGITS_MAX = 30
"""A word with more of them is no number that anything takes."""

Reads: TypeAlias = Literal["", "spec", "run", "file", "listed", "module"]
"""Which files a value names that are read: none; a spec and its libraries; saved runs, with the specs that they are
of; one, or those in a folder; that of `@FILE`; that of `MODULE:VALUE`."""


class Writes(Struct, frozen=True):
    """The files that a value names to be written: `within` a folder those of these patterns, without any the file of
    that name itself. `beside`: a file is written beside that, with this ending."""

    within: tuple[str, ...] = ()
    beside: str = ""


class Argument(Struct, frozen=True):
    """A word without a name. `offers`: what a shell completes the beginning of one to."""

    metavar: str
    help: str
    offers: Callable[[str], list[str]] | None = None
    reads: Reads = ""


class Option(Struct, frozen=True):
    """A word with a name, and a value if it is no flag. `panel`: the heading in the help under which it stands.
    `least`, `most`: the smallest and the largest whole number it takes. `reads`, `writes`: which files it names."""

    names: tuple[str, ...]
    metavar: str
    help: str
    panel: str | None = None
    least: int | None = None
    most: int | None = None
    offers: Callable[[str], list[str]] | None = None
    reads: Reads = ""
    writes: Writes | None = None


def option(
    *names: str,
    metavar: str,
    help: str,
    panel: str | None = None,
    least: int | None = None,
    most: int | None = None,
    offers: Callable[[str], list[str]] | None = None,
    reads: Reads = "",
    writes: Writes | None = None,
) -> Option:
    """An option that takes a value."""
    return Option(names, metavar, help, panel, least, most, offers, reads, writes)


def flag(*names: str, help: str, panel: str | None = None) -> Option:
    """An option that is there or not."""
    return Option(names, "", help, panel)


class Parameter(Struct, frozen=True):
    """A parameter of a command: its declaration, its type without `None`, and whether it may be given often."""

    name: str
    declared: Argument | Option
    type: Any
    many: bool
    default: Any


def parameters_of(function: Function) -> list[Parameter]:
    """The parameters of a command's function, in their order, each with what is declared beside its type."""
    found = []
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        hint, declared = get_args(hints[name])
        if get_origin(hint) is UnionType:
            hint = next(part for part in get_args(hint) if part is not type(None))
        many = get_origin(hint) is list
        found.append(Parameter(name, declared, get_args(hint)[0] if many else hint, many, parameter.default))
    return found


def read(function: Function, words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments for a command as its words say; `None` if they are not plain: typer then knows what they mean, or
    what is wrong with them."""
    parameters = parameters_of(function)
    options = {name: item for item in parameters if isinstance(item.declared, Option) for name in item.declared.names}
    places = [item for item in parameters if isinstance(item.declared, Argument)]
    given: dict[str, Any] = {}
    loose: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            loose.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        item = options.get(name)
        if item is None or (item.type is bool and equals):
            return None
        if item.type is bool:
            given[item.name] = True
            continue
        if not equals:
            if not left or (left[0].startswith("-") and left[0] != "-"):
                return None
            value = left.pop(0)
        if not _taken(item, value, given):
            return None
    return _placed(places, loose, given, parameters)


def _taken(item: Parameter, value: str, given: dict[str, Any]) -> bool:
    """Notes a value of an option; returns whether it is one."""
    if item.type is int:
        assert isinstance(item.declared, Option), "numbers are options"
        assert item.declared.most is not None, "each number has a range"
        if not (value.isascii() and value.isdigit()) or len(value) > DIGITS_MAX:
            return False
        if not (item.declared.least or 0) <= int(value) <= item.declared.most:
            return False
        given[item.name] = int(value)
    elif item.many:
        given.setdefault(item.name, []).append(value)
    else:
        given[item.name] = value
    return True


def _placed(
    places: list[Parameter], loose: list[str], given: dict[str, Any], parameters: list[Parameter]
) -> dict[str, Any] | None:
    """The words without a name put in their places, and defaults for what was not given."""
    if any(not word for word in loose):
        return None
    for place in places:
        if place.many:
            given[place.name], loose = loose, []
        elif loose:
            given[place.name] = loose.pop(0)
    required = [item for item in parameters if item.default is inspect.Parameter.empty]
    if loose or any(not given.get(item.name) for item in required):
        return None
    return {item.name: given.get(item.name, item.default) for item in parameters}


def typed(function: Function) -> Function:
    """The command with its declarations as typer writes them."""
    import typer

    def annotation_of(declared: Argument | Option) -> Any:
        if isinstance(declared, Argument):
            return typer.Argument(metavar=declared.metavar, help=declared.help, autocompletion=declared.offers)
        return typer.Option(
            *declared.names,
            metavar=declared.metavar,
            help=declared.help,
            rich_help_panel=declared.panel,
            min=declared.least,
            max=declared.most,
            autocompletion=declared.offers,
        )

    def command(**given: Any) -> None:
        function(**given)

    hints = get_type_hints(function, include_extras=True)
    annotations = {}
    for name in inspect.signature(function).parameters:
        hint, declared = get_args(hints[name])
        annotations[name] = Annotated[hint, annotation_of(declared)]
    signature = inspect.signature(function)
    parameters = [item.replace(annotation=annotations[name]) for name, item in signature.parameters.items()]
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {**annotations, "return": None}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer goes by
    return command
