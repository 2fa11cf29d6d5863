"""Random specs whose nodes keep, compare, send and raise values of counters without an end."""

from __future__ import annotations

import random

_FRAME = """system Counting "Random."
type Term = counter up to {bound} or more
ordered record Stamp {{ term: Term, minor: 0..1 }}
node S[2] {order} {{
  durable a: Term = {first}
  b: Term? = none
  c: Stamp = Stamp(0, 0)
  kept: sequence of Term up to 2 = []
  mode: {{ idle, busy }} = idle
}}
shared top: Term = 0
message note(t: Term) from S to S {channel}
{actions}
on note(t) at n from m do
{received}
faults {{ crash S up to 1, lose note }}
invariant never: every s: S, o: S satisfies {invariant}
step_invariant grows: every s: S satisfies {transition}
deadlock_free alive
"""


class Specs:
    """Texts of specs, from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def one_of(self, *items: str) -> str:
        return self.chance.choice(items)

    def term(self, node: str, more: tuple[str, ...] = (), depth: int = 2) -> str:
        """A value of the counter that a node can know."""
        plain = (f"{node}.a", f"{node}.a", f"{node}.c.term", *more, *more)
        if depth == 0 or self.chance.random() < 0.4:
            return self.one_of(*plain, "0") if self.chance.random() < 0.2 else self.one_of(*plain)
        first, second = self.term(node, more, depth - 1), self.term(node, more, depth - 1)
        return self.one_of(
            f"larger({first}, {second})",
            f"smaller({first}, {second})",
            f"(if {node}.b == none then {first} else value({node}.b))",
            f"(if {node}.kept == [] then {first} else first({node}.kept))",
            f"(if {self.condition(node, more, 0)} then {first} else {second})",
        )

    def condition(self, node: str, more: tuple[str, ...] = (), depth: int = 1) -> str:
        first, second = self.term(node, more, depth), self.term(node, more, depth)
        kind = self.chance.randrange(9)
        if kind == 0:
            return f"{first} + 1 == {second}" if "0" not in (first, second) else f"{first} == {second}"
        if kind == 1:
            return f"{node}.a == {self.chance.randrange(3)}"
        if kind == 2:
            return f"{node}.b == none"
        if kind == 3:
            return f"{node}.c < Stamp({first}, 1)"
        if kind == 4:
            return f"{node}.b == {node}.b and not {node}.mode == idle"
        return f"{first} {self.one_of('<', '<=', '==', '!=')} {second}"

    def statement(self, node: str, more: tuple[str, ...], depth: int = 1) -> str:
        value = self.term(node, more)
        choices = [
            f"{node}.a := {value}",
            f"{node}.b := {self.one_of(value, 'none')}",
            f"{node}.c := Stamp({value}, {self.chance.randrange(2)})",
            f"{node}.c.term := {value}",
            f"{node}.kept := [{value}]",
            f"{node}.mode := {self.one_of('idle', 'busy')}",
            f"send note({value}) to each others({node})",
        ]
        if depth:
            inner = self.statement(node, more, 0)
            choices.append(f"if {self.condition(node, more)} then {inner} else {self.statement(node, more, 0)}")
        return self.chance.choice(choices)

    def raising(self, node: str, more: tuple[str, ...]) -> str:
        """One statement, or two, that raise a value."""
        base = f"larger({node}.a, {node}.c.term)" if self.chance.random() < 0.3 else self.one_of(f"{node}.a", *more)
        return self.one_of(
            f"{node}.a := {base} + 1",
            f"{node}.a := {base} + 1",
            f"{node}.c := Stamp({base} + 1, 0)",
            f"{node}.b := {base} + 1",
            f"let up = {base} + 1\n  {node}.a := up\n  {node}.c.term := larger(up, {node}.c.term)",
            f"if {self.condition(node, more)} then {node}.a := {base} + 1 else {node}.mode := busy",
            f"let up = {base} + 1\n  send note(up) to each others({node})",
        )

    def body(self, node: str, more: tuple[str, ...] = (), raises: float = 0.4) -> str:
        made = [self.statement(node, more) for _ in range(self.chance.randrange(1, 3))]
        if self.chance.random() < raises:
            made.insert(self.chance.randrange(len(made) + 1), self.raising(node, more))
        return "".join(f"  {line}\n" for line in made)

    def action(self, number: int) -> str:
        guard = f" when {self.condition('s')}" if self.chance.random() < 0.6 else ""
        kind = self.chance.randrange(4)
        if kind == 0:
            more = ("o.a", "o.c.term", "top")
            head = f"environment action act{number}(s: S, o: S){guard} do\n"
            extra = self.one_of("top := larger(top, s.a)", "s.a := o.a", "s.c := o.c", "top := o.c.term")
            lines = self.body("s", more).splitlines()
            kept = (line for line in lines if "send" not in line)
            return head + "".join(f"{line}\n" for line in kept) + f"  {extra}\n"
        head = f"action act{number}(s: S){guard} do\n"
        if kind == 1:
            later = self.body("s", ("before",))
            return f"{head}  let before = {self.term('s')}\n{self.body('s')}  step later:\n{later}"
        return head + self.body("s", raises=0.6)

    def spec(self) -> str:
        """A whole spec."""
        return _FRAME.format(
            bound=self.chance.randrange(2, 4),
            order=self.one_of("ranked", "symmetric"),
            first=self.chance.choice((0, 0, 1)),
            channel=self.one_of("latest queued", "unordered up to 2", "fifo up to 2"),
            actions="\n".join(self.action(number) for number in range(self.chance.randrange(2, 4))),
            received=self.body("n", ("t",)),
            invariant=self.one_of(
                f"{self.condition('s', ('o.a', 'o.c.term', 'top'))} or {self.condition('o', ('s.a', 'top'))}",
                f"{self.condition('s', ('o.a', 'o.c.term'))} implies {self.condition('o', ('s.a',))}",
                "s.a <= o.a + 1 or s == o",
                "s.c <= o.c or o.c <= s.c",
            ),
            transition=self.one_of("old(s.a) <= s.a", "old(s.c) <= s.c", "s.a <= old(s.a) + 1", "old(top) <= top"),
        )
