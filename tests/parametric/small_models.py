"""Small models that are proved for every number of nodes, and their mutants: one word of the text changed each."""

from __future__ import annotations

import re
from collections.abc import Iterator

CHOSEN_OWNER = """system ChosenOwner
node Server[2] symmetric { up: bool = true }
node Key[2] symmetric { owner: Server? = none  seen: Server? = none }
initially do for k: Key do { choose o: Server  k.owner := o  k.seen := o }
environment action give(k: Key, s: Server) when k.owner != none and s.up do k.owner := s k.seen := s
environment action stop(s: Server) when no k: Key where k.owner == s do s.up := false
invariant owned: every k: Key satisfies k.owner != none
invariant known: every k: Key satisfies k.owner == k.seen
"""

FILTERED_START = """system FilteredStart
node Server[2] symmetric { leads: bool = false  ready: bool = false }
initially do
  for s: Server do { choose yes: bool  s.leads := yes  choose r: bool where r or not yes  s.ready := r }
  choose ok: bool where ok and at most one s: Server where s.leads
environment action resign(s: Server) when s.leads do s.leads := false
environment action follow(s: Server, t: Server) when s.leads and t.ready and s != t do s.leads := false t.leads := true
invariant one: at most one s: Server where s.leads
invariant prepared: every s: Server satisfies s.leads implies s.ready
"""

NESTED_START = """system NestedStart
type Colour = { red, green }
node Server[2] symmetric { likes: set of Server = {}  mine: Colour = red }
initially do
  for s: Server do {
    choose c: Colour
    s.mine := c
    for t: Server where t != s do { choose b: bool  if b and c == red then s.likes := s.likes with t }
  }
environment action like(s: Server, t: Server) when s.mine == red and t != s do s.likes := s.likes with t
environment action repaint(s: Server) when s.likes == {} do s.mine := green
invariant other: every s: Server satisfies s not in s.likes
invariant reds: every s: Server satisfies s.mine == red or s.likes == {}
"""

RANKS = """system Ranks
node Node[3] ranked { heard: set of Node = {}  leads: bool = false }
environment action hear(i: Node, j: Node) when j < i do i.heard := i.heard with j
environment action lead(i: Node) when i == Node(1) and i.heard == {} do i.leads := true
invariant first: no i: Node where i < Node(1)
invariant second: no i: Node where Node(1) < i and i < Node(2)
invariant down: every i: Node satisfies every j in i.heard satisfies j < i
invariant leader: every i: Node satisfies i.leads implies i == Node(1)
"""

VOTING = """system Voting
type Value = { yes, no_ }
node Voter[3] symmetric { vote: Value? = none }
shared decided: set of Value = {}
environment action cast(v: Voter, x: Value) when v.vote == none do v.vote := x
environment action decide(x: Value) when majority({ v: Voter where v.vote == x }) do decided := decided with x
invariant agreed: at most one x: Value where x in decided
lemma voted: every x in decided satisfies majority({ v: Voter where v.vote == x })
"""

COMMIT = """system Commit
node Member[2] symmetric { vote: bool? = none  done: bool? = none }
shared failed: bool = false
environment action say(m: Member, b: bool) when m.vote == none do m.vote := b if not b then failed := true
environment action commit(m: Member) when not failed and (every n: Member satisfies n.vote == true) do m.done := true
environment action abort(m: Member) when failed do m.done := false
lemma why: failed == (some n: Member where n.vote == false)
lemma all: (some m: Member where m.done == true) implies (every n: Member satisfies n.vote == true)
lemma aborted: (some m: Member where m.done == false) implies failed
invariant agreed: no m: Member, n: Member where m.done == true and n.done == false
"""

MODELS = {
    "chosen owner": CHOSEN_OWNER,
    "filtered start": FILTERED_START,
    "nested start": NESTED_START,
    "ranks": RANKS,
    "voting": VOTING,
    "commit": COMMIT,
}

SWAPPED = {
    "==": ("!=",),
    "!=": ("==",),
    "and": ("or",),
    "or": ("and",),
    "true": ("false",),
    "false": ("true",),
    "every": ("some",),
    "some": ("every",),
    "<": ("<=",),
    "with": ("without",),
    "red": ("green",),
    "1": ("2",),
    "2": ("1", "3"),
    "not": ("",),
    "majority": ("not majority",),
}
WORD = re.compile(r"\w+|[=!<>:]+|[^\w\s]|\s+")


def mutants(text: str) -> Iterator[str]:
    """The texts in which one word is another, or one guard is gone. Sizes of nodes and claims stay."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith(("system", "type", "invariant", "lemma")):
            continue
        head = line.index("{") + 1 if line.startswith("node") else 0
        words = WORD.findall(line[head:])
        for place, word in enumerate(words):
            for other in SWAPPED.get(word, ()):
                changed = line[:head] + "".join((*words[:place], other, *words[place + 1 :]))
                yield "".join((*lines[:number], changed, *lines[number + 1 :]))
        guard = re.sub(r" when .*? do ", " do ", line)
        if guard != line:
            yield "".join((*lines[:number], guard, *lines[number + 1 :]))
