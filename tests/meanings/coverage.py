"""Which productions and functions of the language random systems use in a step that is reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.language.rule_table import RULES
from hacheck.model.runs import State
from tests.meanings.generator.program import seeded_program
from tests.meanings.productions import Item, Reduction, parsed

BLOCKS = ("body",)
HANDLERS = ("action", "receive", "serve", "lost", "restarted")
DECLARED = ("message", "operation", "lock", "define", "clock", "procedure")
STATES_MAX = 60

EXCEPTIONS: dict[str, str] = {
    "base_type type_endless": "the second interpreter does not know counters without an end",
    "eventually": "infinite runs: a property of the search, not of steps",
    "leads_to": "infinite runs: a property of the search, not of steps",
    "eventually*": "infinite runs: a property of the search, not of steps",
    "leads_to*": "infinite runs: a property of the search, not of steps",
    "fair fair": "infinite runs: a property of the search, not of steps",
    "fair*": "infinite runs: a property of the search, not of steps",
    "fair_handler": "infinite runs: a property of the search, not of steps",
    "fair fair_all": "infinite runs: a property of the search, not of steps",
    "observe": "lines of logs are no part of the state",
    "observe*": "lines of logs are no part of the state",
    "observed": "lines of logs are no part of the state",
    "shown": "lines of logs are no part of the state",
    "statement log": "lines of logs are no part of the state",
    "log_fields": "lines of logs are no part of the state",
    "log_fields*": "lines of logs are no part of the state",
    "log_field": "lines of logs are no part of the state",
    "trace": "settings for logs",
    "trace*": "settings for logs",
    "trace_settings with_settings": "settings for logs",
    "trace_settings*": "settings for logs",
    "from_log": "settings for logs",
    "from_log*": "settings for logs",
    "check": "chooses settings; no part of a system",
    "check*": "chooses settings; no part of a system",
    "check_clause": "chooses settings; no part of a system",
    "check_clause*": "chooses settings; no part of a system",
    "restored": "chooses settings; no part of a system",
    "assigned": "chooses settings; no part of a system",
}
"""Productions that have no part in a step, with the reason."""


def exempt(item: Item) -> str | None:
    """Why an item need not be covered, if it need not."""
    name, symbol = item
    if name == "item" and symbol in EXCEPTIONS:
        return EXCEPTIONS[symbol]
    if item == ("setting", "onoff"):
        return "chosen by checks and logs"
    if item == ("fault*", "fault*"):
        return "a partition of three kinds, where random specs have two (tests/language/cases/faults.md has three)"
    return EXCEPTIONS.get(name) or EXCEPTIONS.get(name.partition(" ")[0])


@dataclass
class Executed:
    """What was executed of a system: the lines written, and the lines where handlers and faults that happened stand."""

    events: set[str] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    steps: int = 0


def executed(system: System, states_max: int = STATES_MAX) -> Executed:
    """Explores a logged system, breadth first, up to a number of states."""
    found, interpreter = Executed(), Interpreter(system)
    level: list[State] = list(interpreter.initial_states())
    reached = set(level)
    while level:
        following: list[State] = []
        for state in level:
            for step, lines in interpreter.steps_with_lines(state):
                action = system.actions[step.action]
                found.steps += 1
                found.lines.add(action.line)
                found.names.add(action.name)
                found.events |= {line.event for line in lines}
                if step.state not in reached and len(reached) < states_max:
                    reached.add(step.state)
                    following.append(step.state)
        level = following
    return found


def covered_by(seed: int) -> frozenset[Item]:
    """What the random spec of a seed uses in steps that are reached; nothing if it is refused or has no step."""
    program = seeded_program(seed, logged=True)
    read = load(program.text, "random.ha", program.read)
    if read.specification is None:
        return frozenset()
    made = read.specification.instantiate(logs=True).system
    assert made is not None
    try:
        ran = executed(made)
    except EvaluationError:  # at the start
        return frozenset()
    if not ran.steps:
        return frozenset()
    found: set[Item] = set()
    for text in (program.text, program.library):
        if text:
            found |= _Covered(parsed(text), ran).items()
    return frozenset(found)


class _Covered:
    """What of a parse tree was executed."""

    def __init__(self, root: Reduction, ran: Executed) -> None:
        self.root, self.ran = root, ran
        self.used: set[str] = set()
        self.reached: list[Reduction] = []
        self.waiting: list[tuple[Reduction, str]] = []

    def items(self) -> set[Item]:
        """The items of all that was reached."""
        self.top(self.root)
        changed = True
        while changed:  # a definition is reached where what uses it is
            names = {str(token) for one in self.reached for token in one.tokens() if token.type == "NAME"}
            fresh = [one for one, name in self.waiting if name in names]
            self.waiting = [(one, name) for one, name in self.waiting if name not in names]
            for one in fresh:
                self.reached += one.walk()
            changed = bool(fresh)
        return {item for one in self.reached for item in (*one.items(), *_functions(one))}

    def top(self, node: Reduction) -> None:
        """A part of the file outside of handlers."""
        name = node.name.partition(" ")[0]
        if name in HANDLERS:
            self.handler(node)
        elif name == "faults":
            self.reached += [node, *_helpers(node)]
            for fault in _faults(node):
                if fault.first.line in self.ran.lines or fault.name in ("fault fault_total",):
                    self.reached += fault.walk()
        elif name == "procedure":
            self.reached.append(node)
            self.statements(node, False)
        elif name in DECLARED:
            declared = next(token for token in node.tokens() if token.type == "NAME")
            if name == "clock" and "tick" in self.ran.names:
                self.reached += node.walk()
            self.waiting.append((node, str(declared)))
        else:
            self.reached.append(node)
            for child in node.children:
                if isinstance(child, Reduction):
                    self.top(child)

    def handler(self, node: Reduction) -> None:
        """A handler: its head where it happened, its statements where they were executed."""
        happened = node.first.line in self.ran.lines
        if not happened:
            happened = any(event in self.ran.events for event in _markers(node))
        if happened:
            self.reached.append(node)
            self.statements(node, True)

    def statements(self, node: Reduction, reached: bool) -> None:
        """What is below a node that was reached or not; a statement with a marker says so by itself."""
        for child in node.children:
            if not isinstance(child, Reduction):
                continue
            if child.name != "body":
                if reached:
                    self.reached.append(child)
                self.statements(child, reached)
                continue
            if reached:
                self.reached.append(child)
            for one, marker in _marked(child):
                here = marker in self.ran.events if marker else reached
                if here:
                    self.reached += [one, *_helpers(child)]
                self.statements(one, here)


def _helpers(node: Reduction) -> Iterator[Reduction]:
    """The repetitions directly in a node."""
    for child in node.children:
        if isinstance(child, Reduction) and child.origin.startswith("_"):
            yield child
            yield from _helpers(child)


def _marked(body: Reduction) -> list[tuple[Reduction, str]]:
    """The statements of a block, each with the line that says that it was executed; without those lines."""
    every = list(body.inside())
    events = [_event(one) for one in every]
    found = []
    for index, one in enumerate(every):
        if events[index]:
            continue
        ends = one.first.value in ("finish", "halt")
        near = index - 1 if ends else index + 1
        found.append((one, events[near] if 0 <= near < len(every) else ""))
    return found


def _event(statement: Reduction) -> str:
    """The event of a marker, of which the first word is `log`."""
    words = (
        [str(token) for one in statement.walk() for token in one.tokens()][:2] if statement.first.value == "log" else []
    )
    return words[1] if len(words) == 2 and words[1][:1] == "r" and words[1][1:].isdigit() else ""


def _markers(node: Reduction) -> Iterator[str]:
    for one in node.walk():
        if one.name == "statement log":
            yield next(str(token) for token in one.tokens() if token.type == "NAME")


def _faults(node: Reduction) -> Iterator[Reduction]:
    return (one for one in node.walk() if one.origin == "fault")


def _functions(node: Reduction) -> Iterable[Item]:
    """The function that an expression is, if it is one."""
    if node.name != "atom apply":
        return ()
    name = str(node.first)
    return [("function", name)] if name in RULES.functions else []


def counted(seeds: Iterable[int]) -> Counter[Item]:
    """How many of the random systems cover each item."""
    found: Counter[Item] = Counter()
    for seed in seeds:
        found.update(covered_by(seed))
    return found
