"""Specs in Markdown, and what is expected of them: fenced `ha` blocks, each followed by a `result` block or not.

- A block that begins with `system` is a whole spec. Any other is completed by the `ha prelude` block before it in the
  same section. `ha file=NAME` is a library that later blocks of the document `use`.
- A `result` block says what is found under the spec's defaults: `NAME: holds`, `NAME: violated`, with `in N steps` if
  the length matters; `states: N`; `cut: BOUND`; `fault` for an error met while exploring; or, of a text that is wrong,
  `error CODE` and `warning CODE` for each diagnostic.
- Without one, the spec's own `check` blocks say what is expected, and the text has no diagnostics at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.ir import System
from hacheck.model.language import Loaded, load
from hacheck.model.property_names import declared_name, expanded
from tests.models.exploration import Explored, explore

STATES_MAX = 6_000
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,3} (.*)$", re.MULTILINE)
LIVENESS = ("eventually", "leads_to")


class Example(Struct, frozen=True):
    """One spec, where it stands, and the lines of its `result` block."""

    where: str
    text: str
    expected: tuple[str, ...]
    libraries: dict[str, str] = field(default_factory=dict)


def examples(document: Path) -> Iterator[Example]:
    """The specs of a document, in order."""
    text = document.read_text(encoding="utf-8")
    titles = [(match.start(), match.group(1)) for match in HEADING.finditer(text)]
    libraries: dict[str, str] = {}
    prelude, section = "", ""
    fences = list(FENCE.finditer(text))
    for index, fence in enumerate(fences):
        words = fence["info"].split()
        if not words or words[0] != "ha":
            continue
        title = next((name for start, name in reversed(titles) if start < fence.start()), "")
        if title != section:
            prelude, section = "", title
        if words[1:] == ["prelude"]:
            prelude = fence["body"]
            continue
        if words[1:] and words[1].startswith("file="):
            libraries[words[1].removeprefix("file=")] = fence["body"]
            continue
        whole = re.match(r"(\s*#[^\n]*\n|\s)*(system|library)\b", fence["body"])
        following = fences[index + 1] if index + 1 < len(fences) else None
        results = following["body"] if following is not None and following["info"].strip() == "result" else ""
        number = text.count("\n", 0, fence.start()) + 1
        yield Example(
            f"{title} (line {number})",
            fence["body"] if whole or words[1:] == ["text"] else f"{prelude}\n{fence['body']}",
            tuple(line.strip() for line in results.splitlines() if line.strip()),
            dict(libraries),
        )


def loaded(example: Example) -> Loaded:
    """The example as it is read."""
    return load(example.text, "example.ha", example.libraries.get)


def shipped(path: Path) -> Loaded:
    """A spec of a file, with the libraries beside it."""

    def read(name: str) -> str | None:
        library = path.parent / name
        return library.read_text(encoding="utf-8") if library.is_file() else None

    return load(path.read_text(encoding="utf-8"), path.name, read)


def verify(example: Example) -> None:
    """Fails when something else is found than what is expected."""
    read = loaded(example)
    codes = sorted(f"{one.severity} {one.code}" for one in read.diagnostics)
    wanted = sorted(line for line in example.expected if line.startswith(("error ", "warning ")))
    shown = "\n".join(f"{one.code} {one.message} {one.span}" for one in read.diagnostics)
    assert codes == wanted, f"{example.where}: {shown or 'no diagnostics'}\n{example.text}"
    specification = read.specification
    if specification is None:
        return
    lines = [line for line in example.expected if line not in wanted]
    if lines:
        made = specification.instantiate()
        assert made.system is not None, made.diagnostics
        compare(example, made.system, lines)
    for check in () if lines else specification.checks:
        made = specification.instantiate(check=check.name)
        assert made.system is not None, made.diagnostics
        verdicts, found = decide(made.system)
        assert found.complete, f"{example.where}: more than {STATES_MAX} states"
        assert found.fault_depth is None, f"{example.where}: the spec has an error after {found.fault_depth} steps"
        asked = expanded(check.only, verdicts) or tuple(verdicts)
        violated = sorted({declared_name(name) for name in asked if verdicts[name] == "violated"})
        assert violated == sorted(check.expect_violated), f"{example.where}, check {check.name}\n{example.text}"


def compare(example: Example, system: System, lines: list[str]) -> None:
    """Fails when a line of the `result` block is not true."""
    verdicts, found = decide(system)
    assert found.complete, f"{example.where}: more than {STATES_MAX} states"
    if "fault" not in lines:
        assert found.fault_depth is None, f"{example.where}: the spec has an error after {found.fault_depth} steps"
    counts = Counter({action.name: count for action, count in zip(system.actions, found.action_counts, strict=True)})
    for line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        match name:
            case "fault":
                assert found.fault_depth is not None, f"{example.where}: no error of the spec is met"
            case "states":
                assert found.states == int(value), f"{example.where}: {found.states} states"
            case "cut":
                assert value in found.cuts, f"{example.where}: {found.cuts}"
            case "not cut":
                assert found.cuts == {}, f"{example.where}: {found.cuts}"
            case "taken":
                assert counts[value] > 0, f"{example.where}: {counts}"
            case "never taken":
                assert counts[value] == 0, f"{example.where}: {counts}"
            case _:
                verdict, _, length = value.partition(" in ")
                assert verdicts.get(name) == verdict, f"{example.where}: {name} {verdicts.get(name)}\n{example.text}"
                if length:
                    assert found.decided[name] == int(length.split()[0]), f"{example.where}: {found.decided}"


def decide(system: System) -> tuple[dict[str, str], Explored]:
    """The verdict on every property: by the interpreter, and on infinite runs by the portable engine."""
    found = explore(system, STATES_MAX)
    verdicts = {}
    for asked in system.properties:
        met = asked.name in found.decided
        if asked.kind not in LIVENESS:
            verdicts[asked.name] = "holds" if met == (asked.kind == "reachable") else "violated"
    infinite = tuple(asked.name for asked in system.properties if asked.kind in LIVENESS)
    if infinite:
        answer = PortableEngine().check(system, infinite, Limits(states_max=STATES_MAX), lambda _: True)
        verdicts.update((one.name, one.verdict) for one in answer.properties)
    return verdicts, found
