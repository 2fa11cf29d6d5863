"""QuorumElection(N, T, K): N replicas elect leaders in terms up to T, at most K of them crash.

The benchmark model whose numbers of states, transitions and levels every engine must reproduce. `req[i][j]`
and `rep[i][j]` are one-slot links from i to j, where 0 is empty and a later message takes the place of an
earlier one.
"""

from __future__ import annotations

from hacheck.model.ir import (
    FALSE,
    TRUE,
    Action,
    Assign,
    Binary,
    BinaryOperator,
    Constant,
    Domain,
    Expression,
    ForEach,
    If,
    Index,
    Let,
    Local,
    MakeCollection,
    Property,
    Quantified,
    Statement,
    StateVariable,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.types import Bool, Enum, Map, Node, Option, Range, Set, Type

# States, transitions, depth and states without a successor, by N, T, K: the reference counts of the
# benchmark.
REFERENCE: dict[tuple[int, int, int], tuple[int, int, int, int]] = {
    (2, 1, 0): (15, 22, 4, 5),
    (2, 2, 0): (73, 196, 6, 7),
    (2, 2, 1): (372, 1_210, 8, 13),
    (2, 3, 0): (229, 834, 8, 9),
    (2, 3, 1): (1_188, 4_868, 10, 17),
    (2, 3, 2): (2_732, 12_150, 12, 18),
    (3, 1, 0): (329, 1_335, 9, 22),
    (3, 1, 1): (2_149, 10_392, 11, 46),
    (3, 1, 2): (6_252, 34_170, 13, 55),
    (3, 2, 0): (9_993, 67_035, 12, 52),
    (3, 2, 1): (63_873, 465_114, 14, 100),
    (3, 2, 2): (182_904, 1_421_532, 16, 115),
    (3, 2, 3): (334_616, 2_723_424, 18, 116),
    (3, 3, 0): (125_281, 1_105_839, 15, 94),
    (3, 3, 1): (797_189, 7_355_568, 17, 178),
    (3, 4, 0): (987_701, 10_492_275, 18, 148),
    (4, 1, 0): (22_001, 188_172, 16, 149),
    (4, 1, 1): (182_582, 1_700_464, 18, 325),
    (4, 1, 2): (674_129, 6_732_760, 20, 403),
}

# Of the broken variant: states, transitions, depth, and the length of the shortest violation.
REFERENCE_BROKEN: dict[tuple[int, int, int], tuple[int, int, int, int]] = {
    (3, 1, 1): (3_193, 15_642, 11, 8),
    (3, 2, 1): (95_877, 714_786, 15, 8),
}

MODE = Enum("Mode", ("follower", "candidate", "leader"))
FOLLOWER, CANDIDATE, LEADER = (Constant(member, MODE) for member in MODE.members)


def quorum_election(replicas: int, terms: int, crashes: int, broken: bool = False) -> System:
    """The system for N, T, K. `broken`: a crash also forgets whom a replica voted for."""
    return _Builder(replicas, terms, crashes).system(broken)


def _op(operator: BinaryOperator, left: Expression, right: Expression) -> Expression:
    return Binary(operator, left, right)


def _all(*conditions: Expression) -> Expression:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = _op("and", whole, condition)
    return whole


class _Builder:
    """The types and variables of one size."""

    def __init__(self, replicas: int, terms: int, crashes: int) -> None:
        self.crashes_max = crashes
        self.replica = Node("Replica", replicas, ranked=True)
        self.term_type = Range(0, terms)
        self.vote_type = Option(self.replica)
        self.votes_type = Set(self.replica)
        self.up = self.field("up", Bool())
        self.mode = self.field("mode", MODE)
        self.term = self.field("term", self.term_type)
        self.voted = self.field("voted", self.vote_type)
        self.votes = self.field("votes", self.votes_type)
        self.req = Variable("req", Map(self.replica, Map(self.replica, self.term_type)))
        self.rep = Variable("rep", Map(self.replica, Map(self.replica, self.term_type)))
        self.crashes = Variable("crashes", Range(0, crashes))
        self.i, self.j = Local("i", self.replica), Local("j", self.replica)
        self.nobody = Constant(None, self.vote_type)
        self.no_votes = Constant(frozenset(), self.votes_type)
        self.zero = Constant(0, self.term_type)

    def field(self, name: str, kind: Type) -> Variable:
        return Variable(f"Replica.{name}", Map(self.replica, kind))

    def system(self, broken: bool) -> System:
        size = self.replica.size
        links = ((0,) * size,) * size
        fields = (
            (self.up, True, False),
            (self.mode, "follower", False),
            (self.term, 0, True),
            (self.voted, None, True),
            (self.votes, frozenset(), False),
        )
        owned = tuple(
            StateVariable(
                variable.name,
                variable.type,
                (initial,) * size,
                "Replica",
                "status" if variable is self.up else "field",
                durable,
                mode=variable is self.mode,
            )
            for variable, initial, durable in fields
        )
        variables = (
            *owned,
            StateVariable("req", self.req.type, links, None, "channel"),
            StateVariable("rep", self.rep.type, links, None, "channel"),
            StateVariable("crashes", self.crashes.type, 0, None, "budget"),
        )
        return System(
            name="QuorumElection",
            description="Replicas elect a leader for a term by majority.",
            source="",
            settings=(("N", str(size)), ("T", str(self.term_type.high)), ("K", str(self.crashes_max))),
            nodes=(self.replica,),
            variables=variables,
            initial=(),
            actions=(
                self.timeout(),
                self.receive_request(),
                self.receive_reply(),
                self.drop("DropReq", self.req),
                self.drop("DropRep", self.rep),
                self.crash(broken),
                self.restart(),
            ),
            properties=(self.one_leader_per_term(),),
            observations=(),
            assumptions=(),
            bounds=(),
            faults=(f"crash Replica up to {self.crashes_max}",),
        )

    def of(self, variable: Variable, node: Expression) -> Expression:
        return Index(variable, node)

    def link(self, variable: Variable, sender: Expression, receiver: Expression) -> Expression:
        return Index(Index(variable, sender), receiver)

    def set(self, variable: Variable, node: Expression, value: Expression) -> Statement:
        return Assign(Target(variable, (node,)), value)

    def set_link(self, variable: Variable, sender: Expression, receiver: Expression, value: Expression) -> Statement:
        return Assign(Target(variable, (sender, receiver)), value)

    def action(self, name: str, two: bool, actor: str | None, guard: Expression, body: tuple[Statement, ...]) -> Action:
        parameters = (("i", self.replica), ("j", self.replica)) if two else (("i", self.replica),)
        kind = {"Crash": "fault", "Restart": "repair"}.get(name, "environment" if actor is None else "protocol")
        return Action(name, parameters, guard, body, kind, actor, None, name, "", "", 0)  # type: ignore[arg-type]

    def timeout(self) -> Action:
        i, other = self.i, Local("other", self.replica)
        term = self.of(self.term, i)
        everybody_else = Domain(self.replica, None, _op("!=", other, i))
        return self.action(
            "Timeout",
            False,
            "i",
            _all(
                self.of(self.up, i),
                _op("!=", self.of(self.mode, i), LEADER),
                _op("<", term, Constant(self.term_type.high, self.term_type)),
            ),
            (
                self.set(self.mode, i, CANDIDATE),
                self.set(self.term, i, _op("+", term, Constant(1, Range(1, 1)))),
                self.set(self.voted, i, Unary("some", i)),
                self.set(self.votes, i, MakeCollection(self.votes_type, (i,))),
                ForEach("other", everybody_else, (self.set_link(self.req, i, other, term),)),
            ),
        )

    def receive_request(self) -> Action:
        """j receives the request of i."""
        i, j = self.i, self.j
        asked, term, voted = self.link(self.req, i, j), Index(self.term, j), Index(self.voted, j)
        asked_term = Local("asked", self.term_type)

        return self.action(
            "RecvReq",
            True,
            "j",
            _all(self.of(self.up, j), _op("<", self.zero, asked)),
            (
                Let("asked", self.term_type, asked),
                self.set_link(self.req, i, j, self.zero),
                If(
                    _op("<", term, asked_term),
                    (
                        self.set(self.term, j, asked_term),
                        self.set(self.mode, j, FOLLOWER),
                        self.set(self.voted, j, self.nobody),
                        self.set(self.votes, j, self.no_votes),
                    ),
                    (),
                ),
                If(
                    _op(
                        "and",
                        _op("==", asked_term, term),
                        _op("or", _op("==", voted, self.nobody), _op("==", voted, Unary("some", i))),
                    ),
                    (self.set(self.voted, j, Unary("some", i)), self.set_link(self.rep, j, i, asked_term)),
                    (),
                ),
            ),
        )

    def receive_reply(self) -> Action:
        """i receives the vote of j."""

        i, j = self.i, self.j
        answer, granted = self.link(self.rep, j, i), Local("granted", self.term_type)
        votes = self.of(self.votes, i)
        return self.action(
            "RecvRep",
            True,
            "i",
            _all(self.of(self.up, i), _op("<", self.zero, answer)),
            (
                Let("granted", self.term_type, answer),
                self.set_link(self.rep, j, i, self.zero),
                If(
                    _all(
                        _op("==", granted, self.of(self.term, i)),
                        _op("==", self.of(self.mode, i), CANDIDATE),
                    ),
                    (
                        self.set(self.votes, i, _op("with", votes, j)),
                        If(Unary("majority", votes), (self.set(self.mode, i, LEADER),), ()),
                    ),
                    (),
                ),
            ),
        )

    def drop(self, name: str, links: Variable) -> Action:
        return self.action(
            name,
            True,
            None,
            _op("<", self.zero, self.link(links, self.i, self.j)),
            (self.set_link(links, self.i, self.j, self.zero),),
        )

    def crash(self, broken: bool) -> Action:
        i = self.i
        one = Constant(1, Range(1, 1))
        forget = (self.set(self.voted, i, self.nobody),) if broken else ()
        return self.action(
            "Crash",
            False,
            "i",
            _all(
                self.of(self.up, i),
                _op("<", self.crashes, Constant(self.crashes_max, Range(self.crashes_max, self.crashes_max))),
            ),
            (
                self.set(self.up, i, FALSE),
                self.set(self.mode, i, FOLLOWER),
                self.set(self.votes, i, self.no_votes),
                Assign(Target(self.crashes), _op("+", self.crashes, one)),
                *forget,
            ),
        )

    def restart(self) -> Action:
        up = self.of(self.up, self.i)
        return self.action("Restart", False, "i", Unary("not", up), (self.set(self.up, self.i, TRUE),))

    def one_leader_per_term(self) -> Property:
        a, b = Local("a", self.replica), Local("b", self.replica)

        def leads(node: Expression) -> Expression:
            return _op("==", self.of(self.mode, node), LEADER)

        same = Quantified(
            "some",
            "b",
            Domain(self.replica, None, None),
            _all(_op("!=", a, b), leads(b), _op("==", self.of(self.term, a), self.of(self.term, b))),
        )
        goal = Quantified("none", "a", Domain(self.replica, None, leads(a)), same)
        return Property("OneLeaderPerTerm", "invariant", goal, None, (), "at most one leader in a term", "", 0)
