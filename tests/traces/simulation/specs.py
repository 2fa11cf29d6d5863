"""Specs whose lines show one of everything."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model.language import load
from hacheck.model.observing.line_writers import has_lines, logged

EVERYTHING = """
system Everything "Lines of every kind."
type Mode = { idle, busy, stopping }
identity Group
node Server[3] ranked {
  mode: Mode = idle
  term: counter up to 40 = 0
  group: Group? = none
  heard: set of Server = {}
  seen: set of 0..4 = {}
  best: Server? = none
  last: 0..4? = none
  ready: bool = false
}
node Client { asked: 0..4 = 0 }
shared turns: 0..2 = 0

action found(s: Server) when s.mode == idle do
  log founding(term: s.term, before: s.group)
  let name = fresh(Group)
  s.group := name
  s.mode := busy
  log founded(group: name, mode: s.mode)
  step settled:
  s.ready := not s.ready
  if s.ready then {
    log settled(ready: s.ready, heard: s.heard, seen: s.seen)
  }
environment action join(s: Server) when s.mode == busy and s.term < 40 do
  choose t: Server where t.group != none and t != s
  s.group := t.group
  s.term := s.term + 1
  s.heard := s.heard with t
  s.best := t
  log joined(group: s.group, to: t, term: s.term, best: s.best) at s
action leave(s: Server) when s.group != none do
  s.group := none
  s.mode := idle
  s.best := none
  s.heard := {}
  log left(best: s.best, last: s.last)
environment action count() do
  choose n: 0..4
  for s: Server do {
    s.seen := s.seen with n
    s.last := n
    if s.ready then { log counted(n: n, last: s.last, of: s as name) at s }
  }
  log round(of: n, turns: turns)
  turns := if turns == 2 then 0 else turns + 1
action ask(c: Client) do
  c.asked := if c.asked == 4 then 0 else c.asked + 1
faults { crash Server up to 1 }
observe asked of ask when n.asked > 1 shows n = n.asked, before = old(n.asked)
invariant fine: turns <= 2
"""
"""Options, sets, names, loops, conditions, several lines of a step, lines of nobody; one field of several types."""

PLAIN = """
system Plain "Nothing is said of lines."
identity Token
node Server[2] symmetric { on: bool = false  level: 0..3 = 0  token: Token? = none }
message offer(token: Token, level: 0..3) from Server to Server
action switch_on(s: Server) when not s.on do
  s.on := true
  s.token := fresh(Token)
action offer_it(s: Server) when s.on and s.token != none do
  send offer(value(s.token), s.level) to other(s)
on offer(token, level) at s from t do
  s.token := token
  s.level := level
  s.on := false
environment action jolt(n: 0..3, hard: bool) do
  for s: Server do s.level := if hard then n else s.level
faults { crash Server up to 1 }
invariant fine: every s: Server satisfies s.level <= 3
"""
"""Each step is a line: with arguments that are numbers, words and nodes."""

ENDING = """
system Ending "It comes to an end."
node Server[2] symmetric { done: 0..2 = 0 }
action go(s: Server) when s.done < 2 do
  s.done := s.done + 1
  if s.done == 2 then { log finished() at s }
invariant fine: every s: Server satisfies s.done <= 2
"""
"""Nothing is possible after four steps."""


def system_of(text: str) -> ir.System:
    """The system of a text, whose steps write lines."""
    loaded = load(text, "spec.ha")
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}, None, logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system, not has_lines(made.system))
