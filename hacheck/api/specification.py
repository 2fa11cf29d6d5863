"""Specs for programs: loading one, and the checks and systems in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from hacheck import shipped
from hacheck.api.errors import InputError, require_known
from hacheck.checker.verify import Question, default_check, questions_of

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Diagnostic, Parameter, Specification

Settings: TypeAlias = Mapping[str, str | int | bool]
"""Values of params, switches and assumptions by name; a `bool` stands for `on` and `off`."""


class SpecError(InputError):
    """The text of a spec, or what it means under some settings, has errors. `diagnostics`: all of them."""

    def __init__(self, path: str, diagnostics: Sequence[Diagnostic], texts: Mapping[str, str]) -> None:
        errors = [one for one in diagnostics if one.severity == "error"]
        lines = "\n".join(_line(one, texts) for one in errors)
        super().__init__(f"{path} has {len(errors)} error{'' if len(errors) == 1 else 's'}:\n{lines}")
        self.diagnostics = tuple(diagnostics)


def _line(one: Diagnostic, texts: Mapping[str, str]) -> str:
    text = texts.get(one.span.path, "")
    line = text.count("\n", 0, one.span.start) + 1
    hint = "" if one.hint is None else f" ({one.hint})"
    return f"  {one.span.path}:{line}: {one.code}: {one.message}{hint}"


class Spec(Struct, frozen=True):
    """A protocol that has been read, and means something under the settings of each of its checks.

    `called`: as the caller named it. `specification`: the language's own form, which is no part of the public face.
    """

    called: str
    warnings: tuple[str, ...]
    specification: Specification

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.specification.name

    @property
    def description(self) -> str:
        """What the spec says of itself."""
        return self.specification.description

    @property
    def path(self) -> str:
        """The file, or `<text>`."""
        return self.specification.path

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """The params, switches and assumptions, each with `name`, `kind`, `default` and `description`."""
        return self.specification.parameters

    @property
    def checks(self) -> tuple[Question, ...]:
        """The checks, each with `name`, `description`, `settings`, `only`, `expect_violated` and `by_request`."""
        return questions_of(self.specification)

    def properties(self, check: str | None = None, settings: Settings | None = None) -> tuple[str, ...]:
        """The names of the properties, under the settings of a check."""
        system, _ = self.system(check, settings)
        return tuple(one.name for one in system.properties)

    def system(
        self, check: str | None = None, settings: Settings | None = None, *, logs: bool = False
    ) -> tuple[System, Question]:
        """The transition system of a check (by default that of `default`, or the first one) under further settings.

        `logs`: the one that logs are compared with. Errors: `InputError` for a check or setting that there is not;
        `SpecError` for what the settings make of the spec.
        """
        require_known("check", () if check is None else (check,), [one.name for one in self.checks])
        given = as_text(settings)
        require_known("setting", given, [one.name for one in self.settings])
        name = check or default_check(self.specification)
        instance = self.specification.instantiate(given, name, logs=logs)
        if instance.system is None:
            raise SpecError(self.path, instance.diagnostics, {self.path: self.specification.text})
        return instance.system, next(one for one in self.checks if one.name == name)

    def __repr__(self) -> str:
        return f"<Spec {self.name}: {', '.join(one.name for one in self.checks)}>"


def as_text(settings: Settings | None) -> dict[str, str]:
    """Settings as the language writes them."""
    found = {}
    for name, value in (settings or {}).items():
        found[name] = ("on" if value else "off") if isinstance(value, bool) else str(value)
    return found


def load(spec: str | os.PathLike[str] | Spec) -> Spec:
    """The spec in a file, or a shipped protocol by its name (`icestorm`); one that is loaded already as it is.

    Errors: `InputError` where there is no such file, or no text in it; `SpecError` where the text has errors.
    Cost: a tenth of a second to some seconds, by the number of checks and choices.
    """
    if isinstance(spec, Spec):
        return spec
    called = os.fspath(spec)
    try:
        path = shipped.find(called)
        text = path.read_text(encoding="utf-8-sig")
    except shipped.UnknownSpec as error:
        raise InputError(error.message, error.hint) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{called}: cannot be read: {reason}") from None
    return _loaded(called, text, str(path))


def loads(text: str, path: str = "<text>") -> Spec:
    """The spec that a text is. `path`: what errors call it; libraries are looked for beside it. Errors: `SpecError`."""
    return _loaded(path, text, path)


def _loaded(called: str, text: str, path: str) -> Spec:
    from hacheck.model.language import load as load_text

    read = load_text(text, path, _library)
    if read.specification is None:
        raise SpecError(path, read.diagnostics, _texts(text, path, read.diagnostics))
    texts = _texts(text, path, read.diagnostics)
    return Spec(called, tuple(_line(one, texts).strip() for one in read.diagnostics), read.specification)


def _library(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None


def _texts(text: str, path: str, diagnostics: Iterable[Diagnostic]) -> dict[str, str]:
    """The texts that diagnostics point into."""
    others = {one.span.path for one in diagnostics} - {path}
    return {path: text} | {other: _library(other) or "" for other in others}
