"""What `hacheck audit` shows: the verdict, each finding with its run and its settings, what would help, the scope."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from hacheck.audit.audit import Audit, Finding
from hacheck.audit.changes import Change, Edit, Help, OneKind, Search
from hacheck.audit.configuration import SettingValue
from hacheck.audit.expressions import names_in
from hacheck.audit.named_views import named_view, story_of
from hacheck.audit.timing import Timed
from hacheck.checker.described_run import run_title
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.cli.console import seconds, symbols, visible
from hacheck.cli.pictures.run_picture import RunPicture
from hacheck.wording import plural

KINDS = {
    "split_brain": "split brain",
    "acknowledged_loss": "an acknowledged write is lost",
    "stale_promoted": "a stale copy takes over",
    "never_recovers": "it does not recover by itself",
    "contradiction": "settings contradict each other",
}
"""What kinds of findings are called."""


def placed(found: Audit, place: str) -> str:
    """A place with its file as seen from the folder that all files are in."""
    folders = [os.path.dirname(file) for file in found.files]
    common = os.path.commonpath(folders) if folders and len({os.path.isabs(one) for one in folders}) == 1 else ""
    inside = common and place.startswith(f"{common}{os.sep}")
    return visible(place[len(common) + 1 :] if inside else place)


NAMED_MAX = 6
"""So many settings are named that have no part in the verdict; `--show` lists all."""


def show(console: Console, found: Audit) -> None:
    """All of it, the verdict first."""
    _print(console, heading(found))
    _print(console, verdict(console, found))
    drawn = False
    for one in found.findings:
        console.print()
        _print(console, finding(console, found, one, draw=not drawn))
        drawn = drawn or one.violation is not None
    _print(console, causes(found))
    console.print()
    _print(console, helps(console, found))
    if found.timed is not None:
        _print(console, time_outs(console, found.timed))
    _print(console, scope(found))


def _print(console: Console, parts: Iterable[RenderableType] | RenderableType) -> None:
    for part in [parts] if isinstance(parts, Text) or not isinstance(parts, Iterable) else parts:
        console.print(part)


def heading(found: Audit) -> Text:
    """The product, its mode, and the nodes."""
    reader, model = found.configuration.reader, found.model
    version = f" {found.configuration.version}" if found.configuration.version else ""
    nodes = ", ".join(f"{node.name} ({node.role})" if node.role else node.name for node in found.configuration.nodes)
    settings, files = plural(len(model.made_of), "setting"), plural(len(found.files), "file")
    return Text.assemble(
        (f"{reader.title}{version}", "head"), f", {model.mode.says or model.mode.name}\n",
        (f"  {plural(len(found.configuration.nodes), 'node')}: ", "quiet"), (visible(nodes), "node"),
        (f"\n  spec {model.mode.spec}, {settings} of it from {files}", "quiet"),
    )  # fmt: skip


def verdict(console: Console, found: Audit) -> Text:
    """What came out, in a line."""
    marks = symbols(console)
    if found.findings:
        kinds = dict.fromkeys(KINDS[one.kind] for one in found.findings)
        return Text("\n").join([Text(f"{marks.violated} violated: {'; '.join(kinds)}", "bad"), *_by_avoidable(found)])
    if found.open:
        reasons = "; ".join(dict.fromkeys(why for _, why in found.open))
        return Text(
            f"{marks.unknown} undecided ({visible(reasons)}): {', '.join(name for name, _ in found.open)}", "doubt"
        )
    return Text(f"{marks.holds} nothing is violated in this scope", "good")


def _by_avoidable(found: Audit) -> Iterable[Text]:
    """Apart: what these files make possible, and what no values of their settings prevent."""
    said = {
        True: "other settings prevent it",
        False: "no values of these settings prevent it without other harm, only what would help beyond them",
        None: "not found out whether other settings prevent it",
    }
    if all(one.avoidable is None for one in found.findings):
        return
    for avoidable, sentence in said.items():
        if kinds := dict.fromkeys(KINDS[one.kind] for one in found.findings if one.avoidable is avoidable):
            allowed = " (allowed: --allow-unavoidable)" if avoidable is False and found.allows_unavoidable else ""
            yield Text.assemble((f"  {'; '.join(kinds)}: ", "name"), (f"{sentence}{allowed}", "quiet"))


def finding(console: Console, found: Audit, one: Finding, *, draw: bool) -> Iterable[RenderableType]:
    """One finding: the sentence and the run, as a picture or as its story."""
    marks = symbols(console)
    about = f": {visible(one.sentence)}" if one.violation is None else ""
    yield Text.assemble((f"{marks.violated} {KINDS[one.kind]}", "bad"), about)
    if one.contradiction is not None:
        yield _indented(_places(found, one.causes))
        rule = one.contradiction.rule
        for text in (rule.hint, f"source: {rule.source}" if rule.source else ""):
            if text:
                yield _indented(Text(text, "quiet"))
        return
    if one.timed is not None:
        yield _indented(_places(found, one.causes))
        return
    violation = one.violation
    run = None if violation is None else violation.result.answer.run
    if violation is None or run is None:
        return
    title = run_title(violation.check.system, run)
    yield _indented(Text(f"violated in {title}: {visible(one.sentence)}"))
    yield _indented(Text(f"{one.name} of {found.model.mode.spec}", "quiet"))
    view = named_view(violation, found.names)
    if draw:
        yield Text()
        yield RunPicture(ViewReader(view))
    else:
        yield _indented(Text(story_of(view)))


def causes(found: Audit) -> Iterable[RenderableType]:
    """The settings that make violations possible, each group once, with what they lead to."""
    groups: dict[tuple[SettingValue, ...], list[str]] = {}
    for one in found.findings:
        if one.violation is not None and one.causes:
            groups.setdefault(one.causes, []).append(KINDS[one.kind])
    choosing = names_in(found.model.mode.when)
    for values, kinds in groups.items():
        of_what = "" if len(groups) == 1 else f" ({', '.join(dict.fromkeys(kinds))})"
        chosen = all(value.name in choosing for value in values)
        title = "it comes with how the product is used here" if chosen else "what makes it possible"
        yield Text(f"\n{title}{of_what}", "head")
        yield _indented(_places(found, values))


def _places(found: Audit, values: Iterable[SettingValue]) -> Text:
    lines = []
    for value in values:
        node = next((node.name for node in found.configuration.nodes if node.values.get(value.name) is value), "")
        line = Text.assemble(
            (visible(node), "node"), f"  {visible(value.label)} = {visible(value.text) or 'not set'}  "
        )
        line.append(
            placed(found, value.place)
            if value.line is not None
            else f"absent in {placed(found, value.file)}: the default",
            "quiet",
        )
        lines.append(line)
    return Text("\n").join(lines)


def time_outs(console: Console, one: Timed) -> Iterable[RenderableType]:
    """How far time-outs are from the edge of what is safe."""
    marks, tick = symbols(console), one.tick
    mark, style, said = marks.unknown, "doubt", "are not decided"
    if one.safe is not None:
        mark, style = (marks.holds, "good") if one.safe else (marks.violated, "bad")
        said = "are safe" if one.safe else "are not safe"
    yield Text.assemble(
        ("time-outs  ", "head"), (f"{mark} {said} in {one.rule.spec}", style), f", a tick is {tick:g} s"
    )
    now = ", ".join(f"{name} = {ticks * tick:g} s" for name, ticks in one.now.items())
    yield _indented(Text(now))
    if one.region:
        yield _indented(
            Text.assemble(
                "safe exactly where ",
                (" and ".join(one.region), "head"),
                f", in ticks of {tick:g} s (explored combinations)",
            )
        )
    for name, (low, high) in one.room.items():
        yield _indented(Text(f"{name} alone may be from {low * tick:g} s to {high * tick:g} s", "quiet"))
    for note in one.notes:
        yield _indented(Text(note, "warn"))
    yield Text()


def helps(console: Console, found: Audit) -> Iterable[RenderableType]:
    """The smallest changes under which it cannot happen, or what would help instead."""
    search = found.search
    if search is None:
        return
    wanted = frozenset(one.name for one in found.findings if one.violation is not None)
    clean = [one for one in search.changes if not one.brings and one.cures == wanted]
    if clean:
        yield Text("the smallest change under which it cannot happen in this scope", "head")
    else:
        yield Text(_no_change(search), "head")
    for change in clean or search.changes:
        yield _indented(_change(found, change, wanted))
    for one in search.by_fault if not clean else ():
        yield _indented(_one_kind(found, one))
    yield Text(f"  {tried(search, enough=bool(clean))}", "quiet")
    if search.remedies and not clean:
        yield Text("what would help", "head")
        for one_help in search.remedies:
            yield _indented(_help(found, one_help, wanted))
    yield Text()


def _no_change(search: Search) -> str:
    """What is said where no change prevents everything, of what was tried alone."""
    if not search.tried:
        return "none of these settings has another value that makes a difference here"
    nothing = "no single change or pair of these settings" if search.complete else "nothing that was tried"
    if not search.changes:
        return f"{nothing} prevents any of it"
    harm = all(one.brings for one in search.changes)
    these = "each that prevents something brings other harm" if harm else "these prevent a part"
    return f"{nothing} prevents all of it without other harm; {these}:"


def tried(search: Search, *, enough: bool) -> str:
    """How much was tried."""
    reach = "not all of one or two settings, as time ran out"
    if search.complete:
        reach = "until enough helped" if enough else "with every one of one or two settings"
    return f"tried: {plural(search.tried, 'change')}, {reach}"


def _help(found: Audit, one: Help, wanted: frozenset[str]) -> Text:
    kinds = dict.fromkeys(KINDS[finding.kind] for finding in found.findings if finding.name in one.cures)
    reach = "prevents all of it" if one.cures == wanted else f"prevents: {', '.join(kinds)}"
    source = f"; {one.remedy.source}" if one.remedy.source else ""
    explored = f" (explored: {reach})" if one.cures else ""
    return Text.assemble(one.remedy.says, (f"{explored}{source}", "quiet"))


def _one_kind(found: Audit, one: OneKind) -> Text:
    """What a kind of fault alone leads to, and the settings that prevent it."""
    kinds = dict.fromkeys(KINDS[finding.kind] for finding in found.findings if finding.name in one.violated)
    text = Text.assemble((f"{one.fault} alone", "name"), f" lead to: {', '.join(kinds)}")
    whole = [change for change in one.changes if change.cures == one.violated]
    for change in whole or one.changes[:2]:
        text.append("\n  prevented by " if change in whole else "\n  partly prevented by ").append(
            _change(found, change, change.cures)
        )
    return text if one.changes else text.append("; no single setting prevents it")


def change_lines(found: Audit, change: Change, wanted: frozenset[str]) -> list[str]:
    """A change, with what it prevents and what it brings, as a text for a page."""
    return ["; ".join(" ".join(line.split()) for line in _change(found, change, wanted).plain.splitlines())]


def _change(found: Audit, change: Change, wanted: frozenset[str]) -> Text:
    text = Text("\nand ").join([_edit(found, edit) for edit in change.edits])
    if change.cures != wanted:
        for name in sorted(change.cures):
            text.append(f"\n  prevents: {kind_of(found, name)}; then {_sentence(found, name)}", "quiet")
    for name in sorted(change.brings):
        text.append(f"\n  but then: {kind_of(found, name)}; no more is it so that {_sentence(found, name)}", "warn")
    return text


def kind_of(found: Audit, name: str) -> str:
    """What the violation of a property is called."""
    return KINDS[found.kind_of(name)]


def _sentence(found: Audit, name: str) -> str:
    """What must hold, with the property's name."""
    sentence = found.sentence_of(name)
    return visible(f"{sentence} ({name})" if sentence else f"{name} holds")


def _edit(found: Audit, edit: Edit) -> Text:
    now = ", ".join(dict.fromkeys(text or "not set" for _, text in edit.places))
    places = [
        placed(found, place) if ":" in place else node for node, (place, _) in zip(edit.nodes, edit.places, strict=True)
    ]
    return Text.assemble(
        (f"{visible(edit.label)} = {visible(edit.value)}", "name"), f" instead of {visible(now)}",
        (f"  on {', '.join(places)}", "quiet"),
    )  # fmt: skip


def scope(found: Audit) -> Iterable[RenderableType]:
    """How far the answer reaches: faults, assumptions, what was not read."""
    described = {one.name: one.description for one in found.spec.settings}
    budget = ", ".join(f"{name} = {number}" for name, number in found.model.scope.items())
    faults = "; ".join(found.result.system.faults) or "none"
    yield Text.assemble(("scope  ", "head"), f"faults: {visible(faults)}")
    if budget:
        yield _indented(Text(f"{budget}; --faults {next(iter(found.model.scope))}=N changes that", "quiet"))
    chosen = dict(found.result.system.settings)
    for name, sentence in found.model.mode.assumes.items():
        if chosen.get(name) == "off":
            continue
        yield _indented(Text(f"assumed: {sentence or described.get(name, name)}", "quiet"))
    notes = list(found.model.notes)
    if found.model.by_version:
        first = found.configuration.reader.name
        notes.append(
            f"{', '.join(found.model.by_version)} depends on the version of the product, which no file has: the newest "
            f"counts; --product {first}@VERSION says which"
        )
    unknown = [value for node in found.configuration.nodes for value in node.values.values() if value.unknown]
    for value in unknown:
        counts = f"{value.text} counts" if value.text else "it is passed over"
        notes.append(f"{value.place}: the reader does not know {value.label} = {value.unknown}; {counts}")
    for note in notes:
        yield _indented(Text(visible(note), "warn"))
    passed = list(dict.fromkeys(one.path for one in found.configuration.passed))
    if passed:
        more = f" and {len(passed) - NAMED_MAX} more" if len(passed) > NAMED_MAX else ""
        names = ", ".join(passed[:NAMED_MAX])
        yield _indented(Text(f"not part of the verdict: {visible(names)}{more}; --show lists them", "quiet"))
    for text in found.skipped[:NAMED_MAX]:
        yield _indented(Text(f"not read: {visible(text)}", "quiet"))
    yield Text(f"{plural(found.explored, 'exploration')}, {seconds(found.seconds)}", "quiet")


def _indented(inner: RenderableType, columns: int = 2) -> RenderableType:
    return Padding(inner, (0, 0, 0, columns))
