"""A `.ha` file as a whole: its checks, and the system that each means."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.block_locals import with_blocks
from hacheck.model.language.diagnostics import Diagnostic, Span, near
from hacheck.model.language.elaborate import Elaboration, elaborate
from hacheck.model.language.interruption_points import name_of
from hacheck.model.language.kept_locals import KeptLocal
from hacheck.model.language.known_handlers import KnownHandlers
from hacheck.model.language.log_lines import without_logs
from hacheck.model.language.log_settings import FromRecord, Restored, derived, restored
from hacheck.model.language.loose_conditions import loose
from hacheck.model.language.misleading_indentation import misleading
from hacheck.model.language.settings_examination import Examination
from hacheck.model.language.unused_declarations import unused

Reader = Callable[[str], str | None]
"""The text of a library by its path relative to the spec, or `None` when there is none."""


class Parameter(Struct, frozen=True):
    """A setting that a check or the command line may change; `kind` is param, switch or assumption."""

    name: str
    kind: str
    default: str
    description: str


class Check(Struct, frozen=True):
    """One question of the file about itself: settings, and which properties they break.

    `only`: the properties to check, all if empty. `by_request`: run only when named.
    """

    name: str
    description: str
    settings: tuple[tuple[str, str], ...]
    only: tuple[str, ...]
    expect_violated: tuple[str, ...]
    by_request: bool
    line: int
    written: d.CheckDeclaration
    restored: tuple[Restored, ...] = ()
    """For how long logs may show an invariant broken."""


class Trace(Struct, frozen=True):
    """The settings under which logs are compared with the spec; `derived`: those that the log itself gives."""

    description: str
    settings: tuple[tuple[str, str], ...]
    line: int
    written: d.TraceDeclaration
    derived: tuple[FromRecord, ...] = ()


class Instance(Struct, frozen=True):
    """A system, or what is wrong with the settings that were to make it. `evaluated`: what had to have a value before
    there could be a system, such as sizes and first values, as it was before it was evaluated."""

    system: ir.System | None
    diagnostics: tuple[Diagnostic, ...]
    evaluated: tuple[ir.Expression, ...] = ()
    kept: tuple[KeptLocal, ...] = ()
    """What the system relies on: from where in a handler a local that is kept between steps may still be read."""


class Specification(Struct, frozen=True):
    """A file that has been read and found to mean something under every one of its checks' settings."""

    name: str
    description: str
    source: str
    path: str
    text: str
    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    file: d.File
    declarations: tuple[d.Declaration, ...]
    pools: tuple[tuple[str, int], ...] = ()
    """The sizes that pools of identities without a stated size are likely to need."""
    trace: Trace | None = None

    def instantiate(
        self,
        settings: Mapping[str, str] | None = None,
        check: str | None = None,
        *,
        logs: bool = False,
        folded: bool = True,
        known: KnownHandlers | None = None,
    ) -> Instance:
        """The system of a check (or of the defaults) with further settings given as text.

        `logs`: the system that logs are compared with. Its steps write lines, the settings of `trace` come before those
        of the check, and a fault that may happen at all may happen any number of times. Without, each `log` counts as
        not written. `folded`: what is known before the exploration is folded, which leaves no trace of sizes that it
        came from. `known`: handlers under other settings, of `known_handlers`. Errors: as diagnostics, for unknown and
        ill-typed settings and for what they make of the spec.
        """
        chosen = next((one for one in self.checks if one.name == check), None)
        given = {**given_by(chosen), **given_by(self.trace if logs else None), **(settings or {})}
        declarations = self.declarations
        if not logs:
            declarations = without_logs(declarations) if known is None else known.silent
        at = Span(self.path, 0, 0)
        return Instance(*elaborate(self.file, declarations, given, at, self.pools, logs, folded, known))

    def setting_mistakes(self, settings: Mapping[str, str]) -> tuple[Diagnostic, ...]:
        """What is wrong with settings by themselves: values of another type, or out of range. What they make of the
        rest of the spec is not looked at."""
        tried = Elaboration(self.file, self.declarations, settings, Span(self.path, 0, 0), {})
        tried.settle()
        return tuple(tried.context.diagnostics)

    def known_handlers(self) -> KnownHandlers:
        """What several `instantiate` without logs share, so that equal handlers are elaborated once."""
        return KnownHandlers(self.declarations)

    def place_of(self, item: ir.Action | ir.Property) -> str:
        """Where an action or a property is declared: `spec/icestorm.ha:212`, or nothing if it is declared nowhere."""
        if item.line == 0:
            return ""
        paths = [one.span.path for one in self.declarations if one.span.line == item.line and _declares(one, item)]
        return f"{paths[0] if paths else self.path}:{item.line}"


def _declares(written: d.Declaration, item: ir.Action | ir.Property) -> bool:
    """Whether an action or a property is made of a declaration, or of one like it on the same line of another file."""
    match written:
        case d.PropertyDeclaration(name=name):
            return isinstance(item, ir.Property) and name.text == item.name
        case _ if isinstance(item, ir.Property):
            return False
        case d.ActionDeclaration() | d.ReceiveDeclaration() | d.LostDeclaration():
            return name_of(written) == item.handler
        case d.RestartDeclaration(kind=kind):
            return item.name == f"restart {kind.text}"
        case d.FaultDeclaration(names=names):
            return item.kind == "fault" and bool(names) and {name.text for name in names} <= set(item.name.split())
        case d.ClockDeclaration():
            return item.handler == "tick"
        case _:
            return False


class Loaded(Struct, frozen=True):
    """A specification, or everything that is wrong with its text."""

    specification: Specification | None
    diagnostics: tuple[Diagnostic, ...]


def load(
    text: str, path: str, read: Reader | None = None, *, examined: bool = True, defaults_only: bool = False
) -> Loaded:
    """Read a spec, its libraries, and try it under the settings of each of its checks.

    `read` gives the text of libraries. `examined`: without, it is only read, which is enough to say what is in it;
    `defaults_only`: it is tried under the defaults of its settings only. Cost: one elaboration for each choice of
    settings under which handlers see other types and variables.
    """
    from hacheck.model.language.parse import parse  # what was kept is not parsed

    file, found = parse(text, path)
    if file is None:
        return Loaded(None, found)
    libraries, more = _libraries(file, path, read)
    diagnostics = [*found, *more]
    declarations = (*libraries, *file.declarations)
    checks, wrong = _checks(file, declarations)
    diagnostics.extend(wrong)
    parameters = _parameters(declarations)
    trace, wrong = _trace(file, libraries, parameters)
    diagnostics.extend(wrong)
    specification = Specification(
        name=file.name.text,
        description=file.text,
        source=file.source,
        path=path,
        text=text,
        parameters=parameters,
        checks=checks,
        file=file,
        declarations=declarations,
        trace=trace,
    )
    if not examined and not diagnostics:
        return Loaded(specification, ())
    examination = Examination(file, declarations, Span(path, 0, 0))
    if not diagnostics or found:
        diagnostics.extend(_tried(specification, diagnostics, examination, defaults_only))
    if found:
        from hacheck.model.language.syntax_errors import without_followers

        diagnostics = [*found, *without_followers(diagnostics[len(found) :], text, file.declarations)]
    if not diagnostics:
        diagnostics.extend(unused(file, declarations))
    diagnostics = [*with_blocks(diagnostics, file, text), *misleading(file, text), *loose(file, text)]
    if any(one.severity == "error" for one in diagnostics):
        return Loaded(None, tuple(diagnostics))
    return Loaded(replace(specification, pools=examination.sizes), tuple(diagnostics))


def _tried(
    specification: Specification, before: list[Diagnostic], examination: Examination, defaults_only: bool
) -> list[Diagnostic]:
    """What is wrong under the defaults and under each check's settings; after syntax errors only the types' errors."""
    found: list[Diagnostic] = []
    tried: set[object] = set()
    for check in (None, *(() if defaults_only else specification.checks)):
        key = frozenset(check.settings) if check else frozenset()
        if key in tried:
            continue
        tried.add(key)
        wrong = examination.mistakes(given_by(check))
        within = () if check is None else ((check.written.name.span, "under the settings of this check"),)
        found.extend(replace(one, labels=(*one.labels, *within)) for one in wrong if one not in found)
        if wrong:
            break
        if check is None:
            found.extend(_unknown_properties(specification))
    if specification.trace is not None and not found:
        found.extend(examination.unfit_settings(given_by(specification.trace)))
    if before:
        # A declaration with a syntax error is missing, so what refers to it would be reported as unknown.
        return [one for one in found if one.code not in ("HA102", "HA103")]
    return found


def given_by(chooser: Check | Trace | None) -> dict[str, str | t.Expression]:
    """The settings that a check or a `trace` chooses, by name."""
    return {} if chooser is None else {name.text: value for name, value in chooser.written.settings}


def _unknown_properties(specification: Specification) -> list[Diagnostic]:
    known = [one.name.text for one in specification.declarations if isinstance(one, d.PropertyDeclaration)]
    found = []
    for check in specification.checks:
        for name in (*check.written.only, *check.written.expect_violated):
            if name.text not in known:
                hint = near(name.text, known)
                found.append(Diagnostic("HA142", f"there is no property `{name.text}`", name.span, hint=hint))
            elif check.only and name.text not in check.only:
                hint = f"add it: `only …, {name.text}`"
                found.append(
                    Diagnostic(
                        "HA142", f"`{name.text}` is not among the properties of this check", name.span, hint=hint
                    )
                )
    return found


def _libraries(file: d.File, path: str, read: Reader | None) -> tuple[tuple[d.Declaration, ...], list[Diagnostic]]:
    from hacheck.model.language.parse import parse

    declarations: list[d.Declaration] = []
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    waiting = [(name, span, path) for name, span in file.uses]
    while waiting:
        name, span, by = waiting.pop(0)
        full = posixpath.normpath(PurePosixPath(by).parent / name)
        if full in seen:
            continue
        seen.add(full)
        text = None if read is None else read(full)
        if text is None:
            hint = "the path is relative to the file that uses it"
            diagnostics.append(Diagnostic("HA007", f"there is no library `{name}`", span, hint=hint))
            continue
        library, wrong = parse(text, full)
        diagnostics.extend(wrong)
        if library is not None:
            declarations.extend(library.declarations)
            waiting.extend((inner, at, full) for inner, at in library.uses)
    return tuple(declarations), diagnostics


def _checks(file: d.File, declarations: tuple[d.Declaration, ...]) -> tuple[tuple[Check, ...], list[Diagnostic]]:
    made: list[Check] = []
    wrong: list[Diagnostic] = []
    declared = (one for one in declarations if isinstance(one, d.PropertyDeclaration))
    invariants = [one.name.text for one in declared if one.kind == "invariant"]
    for one in file.declarations:
        if not isinstance(one, d.CheckDeclaration):
            continue
        if any(one.name.text == other.name for other in made):
            wrong.append(Diagnostic("HA101", f"there is a check `{one.name.text}` already", one.name.span))
            continue
        kept, more = restored(one.restored, invariants)
        wrong.extend(more)
        made.append(
            Check(
                name=one.name.text,
                description=one.text,
                settings=_written(one),
                only=tuple(name.text for name in one.only),
                expect_violated=tuple(name.text for name in one.expect_violated),
                by_request=one.by_request,
                line=one.span.line,
                written=one,
                restored=kept,
            )
        )
    return tuple(made), wrong


def _trace(
    file: d.File, libraries: tuple[d.Declaration, ...], parameters: tuple[Parameter, ...]
) -> tuple[Trace | None, list[Diagnostic]]:
    """The `trace` of a spec. Errors: `HA143` a second one, or one in a library; those of `derived`."""
    found: list[d.TraceDeclaration] = []
    wrong: list[Diagnostic] = []
    for one in (*file.declarations, *libraries):
        if not isinstance(one, d.TraceDeclaration):
            continue
        if file.library or one in libraries:
            wrong.append(Diagnostic("HA143", "a library cannot have a `trace`", one.span, hint="say it in the spec"))
        elif found:
            first = ((found[0].span, "first here"),)
            hint = "join their settings, or let a `check` choose what differs"
            wrong.append(Diagnostic("HA143", "there is a `trace` already", one.span, first, hint))
        else:
            found.append(one)
    if not found:
        return None, wrong
    one, names = found[0], [parameter.name for parameter in parameters]
    given, more = derived(one.derived, names, written_setting)
    return Trace(one.text, _written(one), one.span.line, one, given), [*wrong, *more]


def _written(chooser: d.CheckDeclaration | d.TraceDeclaration) -> tuple[tuple[str, str], ...]:
    """The settings that are chosen, as text."""
    return tuple((name.text, written_setting(value)) for name, value in chooser.settings)


def _parameters(declarations: tuple[d.Declaration, ...]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(one.name.text, one.kind, written_setting(one.default), one.text)
        for one in declarations
        if isinstance(one, d.Setting)
    )


def written_setting(value: t.Expression) -> str:
    """A setting's value as it was written."""
    match value:
        case t.Number(number):
            return str(number)
        case t.Word(word):
            return "on" if word else "off"
        case t.Name(text):
            return text
        case t.Prefix("negate", t.Number(number)):
            return str(-number)
        case t.Infix(operator, left, right):
            return f"{written_setting(left)} {operator} {written_setting(right)}"
        case _:
            return "..."
