"""A vote as code and as a model: whoever hears of no other candidate stands, each voter votes once, a majority wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hacheck.impl.node import (
    Effect,
    Input,
    Message,
    Name,
    Node,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    Write,
    Written,
)
from hacheck.impl.node import Fired as TimerFired
from hacheck.impl.system import Broken, Member, Oracle

SPEC = """
system Votes "Each voter votes once; who has a majority has won."
node Voter[3] ranked { durable voted: Voter? = none  votes: set of Voter = {}  won: bool = false }
message please() from Voter to Voter latest queued
message yes() from Voter to Voter latest queued
action stand(v: Voter) when v.voted == none do
  v.voted := v
  v.votes := {v}
  log stands() at v
  send please() to each others(v)
on please() at v from c do
  if v.voted == none then {
    v.voted := c
    log votes_for(candidate: c)
    send yes() to c
  }
on yes() at c from v do
  c.votes := c.votes with v
  if majority(c.votes) and not c.won then {
    c.won := true
    log wins()
  }
faults { crash Voter, lose please, lose yes }
invariant one_winner: at most one v: Voter where v.won
check default expect all hold
"""


class Please(Message, frozen=True):
    """Vote for me."""


class Yes(Message, frozen=True):
    """I do."""


class Options(Struct, frozen=True):
    """`twice`: whoever was asked votes again; `forgets`: what was voted is not written down; `hasty`: it is answered
    before it is; `unsynced`: it is written and not synced; `wins_with`: so many votes are taken for a majority;
    `raises`: who wins raises."""

    twice: bool = False
    forgets: bool = False
    hasty: bool = False
    unsynced: bool = False
    wins_with: int = 2
    raises: bool = False


class Voter:
    """A voter, who may stand."""

    def __init__(self, setup: Setup, others: Sequence[Name]) -> None:
        self.name, self.others, self.options = setup.member, others, setup.options
        self.voted = setup.durable.get("voted", b"").decode()
        self.votes: set[Name] = set()
        self.won = False

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done."""
        match given:
            case Started():
                return [SetTimer("stand", 1_000)]
            case TimerFired("stand") if not self.voted:
                return self.vote(self.name)
            case Received(sender, Please()) if not self.voted or self.options.twice:
                return self.vote(sender)
            case Written() if not self.options.hasty:
                return self.told()
            case Received(sender, Yes()):
                self.votes.add(sender)
                return self.counted()
        return []

    def vote(self, candidate: Name) -> list[Effect]:
        """Votes, and writes it down."""
        self.voted = candidate
        if self.options.forgets:
            return self.told()
        write = Write(1, (("voted", candidate.encode()),), not self.options.unsynced)
        return [write, *self.told()] if self.options.hasty else [write]

    def told(self) -> list[Effect]:
        """Tells what it has voted."""
        if self.voted != self.name:
            return [Record("votes_for", {"candidate": self.voted}), Send(self.voted, Yes())]
        self.votes = {self.name}
        asked = [Send(other, Please()) for other in self.others]
        return [Record("stands", {}), *asked, *self.counted()]

    def counted(self) -> list[Effect]:
        """Looks whether it has won."""
        if self.won or len(self.votes) < self.options.wins_with:
            return []
        self.won = True
        if self.options.raises:
            raise RuntimeError("who, me?")
        return [Record("wins", {})]


class Voting:
    """The vote, as something that can be run."""

    name = "voting"
    messages = (Please, Yes)

    def options(self, given: Mapping[str, str]) -> Options:
        """As given."""
        return Options(**{name: int(value) if value.isdigit() else value == "true" for name, value in given.items()})

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """The voters."""
        return tuple(Member(f"voter-{number}", "voter") for number in range(1, replicas + 1))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A voter."""
        return Voter(setup, [one.name for one in members if one != member])

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Nobody judges."""
        raise NotImplementedError

    def quiet_us(self, options: Any) -> int:
        """A second."""
        return 1_000_000

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Nobody serves."""
        return ()

    def survives(self) -> Iterator[str]:
        """Everything."""
        return iter(("crash",))

    def verdict(self) -> Sequence[Broken]:
        """Nothing is broken."""
        return ()


VOTING = Voting()
