"""A pair of servers with a lock file, built by hand, and answers about it: what the renderers are tested
with."""

from __future__ import annotations

from hacheck.checker.engine import Answer, Coverage, PropertyAnswer
from hacheck.model.ir import (
    TRUE,
    Action,
    Assign,
    Binary,
    Constant,
    Domain,
    Expression,
    Index,
    Local,
    Property,
    Quantified,
    StateVariable,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Bool, Enum, Map, Node, Option, Range, Type

SERVER = Node("Server", 2, False)
MODE = Enum("Mode", ("dead", "passive", "activating", "active"))
MODES = Variable("Server.mode", Map(SERVER, MODE))
UP = Variable("Server.up", Map(SERVER, Bool()))
STORED = Variable("Server.stored", Map(SERVER, Range(0, 2)))
HOLDER = Variable("LockFile.holder", Option(SERVER))
S = Local("s", SERVER)
VARIABLES = (
    StateVariable("Server.up", UP.type, (True, True), "Server", "status"),
    StateVariable("Server.mode", MODES.type, ("dead", "dead"), "Server", "field", mode=True),
    StateVariable("Server.stored", STORED.type, (0, 0), "Server", "field", durable=True),
    StateVariable("LockFile.holder", HOLDER.type, None, None, "lock"),
)


def mode_is(member: str) -> Expression:
    """`s.mode == member`."""
    return Binary("==", Index(MODES, S), Constant(member, MODE))


def set_mode(member: str) -> Assign:
    """`s.mode := member`."""
    return Assign(Target(MODES, (S,)), Constant(member, MODE))


def action(name: str, guard: Expression, *body: Assign, kind: str = "protocol", description: str = "") -> Action:
    """An action of a server `s`."""
    return Action(
        name,
        (("s", SERVER),),
        guard,
        body,
        kind,
        "s",
        None,
        name,
        description,
        "",
        0,  # type: ignore[arg-type]
    )


UP_NOW = Index(UP, S)
FREE = Binary("==", HOLDER, Constant(None, HOLDER.type))
ACTIONS = (
    action("start", Binary("and", UP_NOW, mode_is("dead")), set_mode("passive"), description="a server comes up"),
    action(
        "take_over",
        Binary("and", mode_is("passive"), FREE),
        Assign(Target(HOLDER), Unary("some", S)),
        set_mode("activating"),
        description="the lock is free: a standby takes it",
    ),
    action("services_up", mode_is("activating"), set_mode("active")),
    action(
        "lose_lock",
        Binary("!=", HOLDER, Constant(None, HOLDER.type)),
        Assign(Target(HOLDER), Constant(None, HOLDER.type)),
        kind="fault",
        description="the file system gives the lock away while its holder is cut off",
    ),
    action("crash", UP_NOW, Assign(Target(UP, (S,)), Constant(False, Bool())), set_mode("dead"), kind="fault"),
    action("restart", Unary("not", UP_NOW), Assign(Target(UP, (S,)), Constant(True, Bool())), kind="repair"),
    action("retire", mode_is("active"), set_mode("passive")),
)
ACTIVE = Quantified("at_most_one", "s", Domain(SERVER, None, None), mode_is("active"))
SOME_ACTIVE = Quantified("some", "s", Domain(SERVER, None, None), mode_is("active"))
PROPERTIES = (
    Property("one_active", "invariant", ACTIVE, None, (), "never do two servers serve", "Fiorano HA, 3.2", 30),
    Property("stored_grows", "step", TRUE, None, (), "what is stored is never forgotten", "", 31),
    Property("failover", "reachable", SOME_ACTIVE, None, (), "the standby does take over", "", 32),
    Property("recovers", "leads_to", SOME_ACTIVE, TRUE, (), "after a crash somebody serves again", "", 33),
)
PAIR = System(
    name="Pair",
    description="Two servers share one database; whoever holds the lock file serves.",
    source="Fiorano HA guide, 3.2",
    settings=(("crashes", "1"), ("lock_is_leased", "on")),
    nodes=(SERVER,),
    variables=VARIABLES,
    initial=(),
    actions=ACTIONS,
    properties=PROPERTIES,
    observations=(),
    assumptions=(("takeover_after_expiry", "a standby takes over only after the lease of the old holder has expired"),),
    bounds=(("generations", "how many generations a run may have"),),
    faults=("crash of a Server, up to 1", "loss of LockFile, up to 1"),
)
NUMBERS = {name.name: index for index, name in enumerate(ACTIONS)}


def state(first: str, second: str, holder: int | None, up: tuple[bool, bool] = (True, True)) -> State:
    """A state of the pair."""
    return (up, (first, second), (0, 0), holder)


def step(name: str, server: int, after: State) -> Step:
    """A step of a server."""
    return Step(NUMBERS[name], (server,), (), after)


START = state("dead", "dead", None)
SPLIT_BRAIN = Run(
    START,
    (
        step("start", 1, state("passive", "dead", None)),
        step("take_over", 1, state("activating", "dead", 1)),
        step("services_up", 1, state("active", "dead", 1)),
        step("start", 2, state("active", "passive", 1)),
        step("lose_lock", 1, state("active", "passive", None)),
        step("take_over", 2, state("active", "activating", 2)),
        step("services_up", 2, state("active", "active", 2)),
    ),
)
FAILOVER = Run(START, SPLIT_BRAIN.steps[:3])
CRASHED = state("dead", "passive", 1, (False, True))
WEDGED = Run(
    START,
    (
        *SPLIT_BRAIN.steps[:4],
        step("crash", 1, CRASHED),
        step("restart", 1, state("dead", "passive", 1)),
        step("start", 1, state("passive", "passive", 1)),
        step("crash", 1, CRASHED),
    ),
    loop=5,
)
COVERAGE = Coverage(
    states=12_345,
    transitions=67_890,
    depth=23,
    wall_seconds=1.25,
    complete=True,
    stopped=None,
    bounds_reached=(("generations", 4),),
    action_counts=(10, 10, 10, 10, 10, 10, 0),
    unreached=(("Server.mode", ()),),
)
EVERY = "every reachable state (exhaustive)"
ANSWER = Answer(
    COVERAGE,
    (
        PropertyAnswer("one_active", "violated", "shortest run", SPLIT_BRAIN),
        PropertyAnswer("stored_grows", "holds", EVERY),
        PropertyAnswer("failover", "holds", "reached", FAILOVER),
        PropertyAnswer("recovers", "violated", "a fair run", WEDGED),
    ),
)
TYPES: tuple[Type, ...] = (SERVER, MODE)
