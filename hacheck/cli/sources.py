"""From what the user calls a spec to the specification: finding the file, reading it, and saying what is
wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hacheck.cli.guard import BadInput, ExitCode, Reported

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.model.language.diagnostics import Diagnostic

SIZE_MAX = 1 << 20
"""The largest spec that is read, in bytes: more is a mistake (a log, a dump), not a protocol."""


def load_specification(
    spec: str, *, no_color: bool = False, examined: bool = True, defaults_only: bool = False
) -> Specification:
    """The specification a SPEC argument names, as it was kept when the same text was read last. Whatever is wrong with
    it is shown; without `examined`, as far as reading shows without trying its checks; `defaults_only`: as far as the
    defaults of its settings show.

    Errors: `BadInput` when there is no readable text; `Reported` when the text has errors.
    """
    from hacheck.cli.progress import working

    text, path = read_spec(spec)
    with working(f"reading {path}", no_color=no_color):
        if examined:
            from hacheck.compile.kept_models import kept_load

            loaded = kept_load(text, path, read_library, defaults_only=defaults_only)
        else:
            from hacheck.model.language import load

            loaded = load(text, path, read_library, examined=False)
    if loaded.diagnostics:
        show_findings(loaded.diagnostics, {path: text}, no_color)
    if loaded.specification is None:
        raise Reported(ExitCode.BAD_INPUT)
    return loaded.specification


def instantiate(
    specification: Specification,
    settings: Mapping[str, str],
    check: str | None = None,
    *,
    logs: bool = False,
    no_color: bool = False,
) -> System:
    """The system of a check (or of the defaults) under further settings, as it was kept when it was made last. Warnings
    were shown on loading. `logs`: the one that logs are compared with.

    Errors: `Reported` when a setting is unknown or ill-typed, or the spec is wrong under these settings.
    """
    from hacheck.cli.progress import working
    from hacheck.compile.kept_models import kept_instance
    from hacheck.model.language.diagnostics import Span

    with working(f"reading {specification.path}", no_color=no_color):
        instance = kept_instance(specification, settings, check, logs=logs)
    if instance.system is None:
        nowhere = Span(specification.path, 0, 0)  # a setting that came from the command line has no place
        given = " ".join(f"--set {name}={value}" for name, value in settings.items())
        found = [
            replace(item, span=replace(nowhere, path=given)) if given and item.span == nowhere else item
            for item in instance.diagnostics
        ]
        show_findings(found, {specification.path: specification.text}, no_color)
        raise Reported(ExitCode.BAD_INPUT)
    return instance.system


def read_library(path: str) -> str | None:
    """The text of a library that a spec uses, or `None` when there is none to be read."""
    try:
        return read_text(Path(path))
    except BadInput:
        return None


def show_findings(diagnostics: Iterable[Diagnostic], texts: dict[str, str], no_color: bool) -> None:
    """Shows what is wrong with a spec, on standard error."""
    from hacheck.cli.console import error_console
    from hacheck.cli.diagnostics import show_diagnostics

    found = with_libraries(texts, [item.span.path for item in diagnostics])
    show_diagnostics(error_console(no_color=no_color), diagnostics, found)


def with_libraries(texts: Mapping[str, str], paths: Iterable[str]) -> dict[str, str]:
    """The texts of files by path, and of those of these paths that are missing and can be read."""
    found = dict(texts)
    for path in paths:
        text = None if path in found else read_library(path)
        if text is not None:
            found[path] = text
    return found


def read_spec(spec: str) -> tuple[str, str]:
    """The text of a spec and the path to call it by; `-` is standard input."""
    if spec == "-":
        return decode(sys.stdin.buffer.read(SIZE_MAX + 1), "standard input"), "<stdin>"
    path = find_spec(spec)
    return read_text(path), shown_path(path)


def shown_path(path: Path) -> str:
    """The path as it is shortest: from the current directory where it lies within, else in full."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):  # it lies elsewhere, or there is no current directory any more
        return str(path)


def find_spec(spec: str) -> Path:
    """The file of a spec: a path, else a shipped protocol of that name. Errors: `BadInput`."""
    from hacheck import shipped

    if "\0" in spec:
        raise BadInput("a path with a zero byte in it names no file")
    try:
        return shipped.find(spec)
    except shipped.UnknownSpec as error:
        folder = Path(spec)
        inside = sorted(item.name for item in folder.glob("*.ha")) if folder.is_dir() else []
        raise BadInput(error.message, f"it holds: {', '.join(inside)}" if inside else error.hint) from None
    except OSError as error:  # a name longer than the file system allows, a loop of links
        raise BadInput(f"{spec}: cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The text of a file of a sensible size in UTF-8.

    Errors: `BadInput` says which of the many ways in which a file can be none it was.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(SIZE_MAX + 1)
    except IsADirectoryError:
        inside = sorted(item.name for item in path.glob("*.ha"))
        hint = f"it holds: {', '.join(inside)}" if inside else "give the path of a .ha file"
        raise BadInput(f"{path}: is a directory", hint) from None
    except PermissionError:
        raise BadInput(f"{path}: no permission to read it") from None
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    return decode(data, str(path))


def decode(data: bytes, name: str) -> str:
    """The bytes as text. Errors: `BadInput`, with the line and what is wrong there."""
    if len(data) > SIZE_MAX:
        raise BadInput(f"{name}: larger than 1 MiB, which no spec is", "a spec is a text of a few kilobytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise BadInput(
            f"{name}:{line}: not UTF-8 text: byte 0x{byte:02x} at offset {error.start}",
            "a spec is a text file; save it in UTF-8",
        ) from None
    return text
