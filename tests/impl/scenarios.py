"""Scenarios as text: commands in, what comes of them out.

A file of `tests/testdata` has scenarios. `## ` begins one and says what it claims, `#` lines name the source. Each
other line that is not indented has commands, and the lines indented below it are what came of them: of each process
what it went through, the answers to clients, and the processes that ended themselves. `for NAME = A | B` runs the
scenario with A and with B in place of `{NAME}`; a line that not all of these have begins with the values that have it.
`pytest tests/impl/test_scenarios.py --update` writes what comes of the commands now; then read the difference.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from hacheck.impl.node import Name, Record
from tests.impl.stage import Stage

FOLDER = Path(__file__).parents[1] / "testdata"
SHOWN_MAX = 10
"""Of what a process goes through in one command so much is shown."""


class Scenario(NamedTuple):
    """`notes`: its sources; `choices`: names with their values; `steps`: commands, each with what is expected."""

    title: str
    notes: tuple[str, ...]
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    steps: tuple[tuple[str, tuple[str, ...]], ...]


def read(text: str) -> list[Scenario]:
    """The scenarios of a file."""
    return [_scenario(part.splitlines()) for part in text.split("## ")[1:]]


def _scenario(lines: Sequence[str]) -> Scenario:
    notes: list[str] = []
    choices: list[tuple[str, tuple[str, ...]]] = []
    steps: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        if line.startswith("#"):
            notes.append(line)
        elif line.startswith("for "):
            name, _, values = line.removeprefix("for ").partition(" = ")
            choices.append((name, tuple(value.strip() for value in values.split("|"))))
        elif line.startswith("  "):
            steps[-1][1].append(line.removeprefix("  "))
        elif line.strip():
            steps.append((line, []))
    return Scenario(lines[0], tuple(notes), tuple(choices), tuple((line, tuple(out)) for line, out in steps))


def write(scenarios: Iterable[Scenario]) -> str:
    """The text of a file."""
    parts = []
    for one in scenarios:
        choices = (f"for {name} = {' | '.join(values)}" for name, values in one.choices)
        steps = (line for command, out in one.steps for line in (command, *(f"  {line}" for line in out)))
        parts.append("\n".join((f"## {one.title}", *one.notes, *choices, *steps, "")))
    return "\n".join(parts)


def carried_out(scenario: Scenario, begin: Callable[[str], Words]) -> Scenario:
    """The scenario with what comes of its commands now. `begin`: what the first command, which makes the cluster,
    leads to."""
    names = [name for name, _ in scenario.choices]
    variants = list(product(*(values for _, values in scenario.choices)))
    shown = [_run(scenario, begin, dict(zip(names, values, strict=True))) for values in variants]
    labels = [", ".join(values) for values in variants]
    steps = (
        (command, _together([out[number] for out in shown], labels))
        for number, (command, _) in enumerate(scenario.steps)
    )
    return scenario._replace(steps=tuple(steps))


def _together(outs: Sequence[tuple[str, ...]], labels: Sequence[str]) -> tuple[str, ...]:
    """What comes of one command: first the lines that all variants have, then those of some, with their values."""
    lines = dict.fromkeys(line for out in outs for line in out)
    having = {line: [label for label, out in zip(labels, outs, strict=True) if line in out] for line in lines}
    common = [line for line in lines if len(having[line]) == len(outs)]
    return (*common, *(f"[{' | '.join(having[line])}] {line}" for line in lines if line not in common))


def _run(scenario: Scenario, begin: Callable[[str], Words], values: Mapping[str, str]) -> list[tuple[str, ...]]:
    words: Words | None = None
    outs = []
    for commands, _ in scenario.steps:
        for name, value in values.items():
            commands = commands.replace(f"{{{name}}}", value)
        found: list[str] = []
        for command in commands.split("; "):
            try:
                if words is None:
                    words = begin(command)
                else:
                    shown = [*words.do(command)]
                    found += [*words.news(), *shown] if shown else []
            except Exception as error:
                raise AssertionError(f"{scenario.title}: `{command}`: {type(error).__name__}: {error}") from error
        assert words is not None
        outs.append((*found, *words.news()))
    return outs


def settings_of(words: Iterable[str]) -> dict[str, Any]:
    """Settings such as `bug=true`, `sync_batch=1`, `reading=stay`."""
    pairs = (word.partition("=") for word in words)
    known = {"true": True, "false": False}
    return {name: known.get(value, int(value) if value.isdecimal() else value) for name, _, value in pairs}


def seconds(text: str) -> float:
    """`2s`, `500ms`, `300us`."""
    for unit, size in (("ms", 1e-3), ("us", 1e-6), ("s", 1.0)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * size
    raise ValueError(f"a time is such as 2s, 500ms or 300us, not {text}")


def value_of(text: str, *modules: Any) -> Any:
    """A message or a request, as Python writes it: `Create('A')`."""

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                kind = next(vars(module)[name] for module in modules if name in vars(module))
                keywords = {one.arg: value(one.value) for one in node.keywords if one.arg}
                return kind(*map(value, node.args), **keywords)
            case ast.Tuple(elts=items):
                return tuple(map(value, items))
        return ast.literal_eval(node)

    return value(ast.parse(text, mode="eval").body)


class Words:
    """The commands that all protocols have. `shows`: how a record is shown, if it is."""

    def __init__(self, stage: Stage, kinds: Sequence[Any]) -> None:
        self.stage, self.kinds = stage, kinds
        self._logged = self._ended = 0

    def name(self, word: str) -> Name:
        """A process, as a command calls it."""
        return word

    def shows(self, record: Record) -> str:
        """A record in a few words; none, if it is not shown."""
        raise NotImplementedError

    def answers(self) -> Iterator[str]:
        """What clients were answered since."""
        raise NotImplementedError

    def do(self, command: str) -> Iterable[str]:
        """Carries out a command. Returns what it asks for."""
        verb, *rest = command.split()
        stage, names = self.stage, [self.name(word) for word in rest]
        match verb:
            case "start":
                stage.start(*names)
            case "crash":
                stage.crash(*names)
            case "run":
                stage.run(seconds(rest[0]))
            case "until":
                stage.run_until(names[0], rest[1])
            case "until-sent":
                stage.run_until_sent(self.kind(rest[0]))
            case "part":
                stage.part(*names)
            case "deaf":
                stage.cut.add((names[0], names[1]))
            case "heal":
                stage.heal()
            case "hold":
                stage.hold(names[0], names[1])
            case "release":
                stage.release(lost=rest == ["lost"])
            case "lose":
                kinds = tuple(map(self.kind, rest))
                stage.loses = lambda message: isinstance(message, kinds)
            case "disks-fail":
                stage.failing = set(names)
            case "disks-wait":
                stage.slow = set(names)
            case "disks-go":
                for name in sorted(stage.slow):
                    stage.unslow(name)
            case "wipe":
                stage.disks[names[0]].clear()
            case "lock":
                stage.holders[rest[0]] = rest[1]
            case "unlock":
                stage.holders.pop(rest[0], None)
            case "clock-ahead":
                stage.ahead[names[0]] = round(seconds(rest[1]) * 1e6)
            case "verdict":
                return [f"broken: {', '.join(sorted(stage.promises_broken())) or 'nothing'}"]
            case _:
                raise ValueError("no such command")
        return ()

    def kind(self, name: str) -> type:
        """A kind of message."""
        found = next(vars(module)[name] for module in self.kinds if name in vars(module))
        assert isinstance(found, type)
        return found

    def news(self) -> Iterator[str]:
        """What has come to pass since it was asked the last time."""
        stage = self.stage
        went: dict[Name, list[str]] = {}
        for _, name, record in stage.log[self._logged :]:
            if text := self.shows(record):
                went.setdefault(name, []).append(text)
        self._logged = len(stage.log)
        through: dict[tuple[str, ...], list[Name]] = {}
        for name in sorted(went):
            through.setdefault(tuple(went[name]), []).append(name)
        for texts, names in through.items():
            if len(texts) > SHOWN_MAX:
                texts = (*texts[: SHOWN_MAX - 2], f"and {len(texts) - SHOWN_MAX + 1} more", texts[-1])
            yield f"{', '.join(names)}: {', '.join(texts)}"
        yield from self.answers()
        for name in list(stage.halted)[self._ended :]:
            yield f"{name} ends itself: {stage.halted[name]}"
        self._ended = len(stage.halted)
