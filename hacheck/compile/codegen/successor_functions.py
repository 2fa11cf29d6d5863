"""`expand`: the successors of a batch of states, by functions that each run one instance on all of the batch in which
it may be enabled.

They come in groups, each with a function that calls them, so that a large one can be a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from hacheck.compile.codegen.basic_blocks import Printer, Target, temp_kinds
from hacheck.compile.codegen.code_placement import placed
from hacheck.compile.codegen.enabled_function import Guards
from hacheck.compile.codegen.function_text import COUNT, Code, Join
from hacheck.compile.codegen.instructions import Values
from hacheck.compile.codegen.module import AFTER, BEFORE, Module, pieces, signed
from hacheck.compile.codegen.next_words import next_words
from hacheck.compile.codegen.step_conditions import Watched, Watches
from hacheck.compile.codegen.thread_notes import Notes
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.blocks import Emit, Lowered, Stopped
from hacheck.compile.lowering.system import block_size

_CHUNK_STATEMENTS = 2_000
_LOADED_WORDS_MAX = 2  # of so many words all are loaded at once, of more each where it is needed
_COPIED_INLINE_MAX = 24  # of more words a function copies all: in each place of its own they are most of the module

STOP_BIT = 1 << 31
"""Set in the tag of an outcome that is no step."""

ERROR_EVENT = 1
"""The bit of an error of the spec among the events of a call; the step conditions' bits are above it."""


class Plan(Struct, frozen=True):
    """What the functions of an expansion know. `guards`: the tests of all guards; `bounds`: the counter of each bound;
    `unblocking`: the actions whose outcomes keep a state from being a deadlock, if one is sought; `lists_stops`:
    whether outcomes that are no step are listed."""

    lowered: Lowered
    module: Module
    notes: Notes
    guards: Guards
    bounds: Mapping[str, int]
    watches: Watches
    unblocking: frozenset[int] | None
    lists_stops: bool


def step_event(number: int) -> int:
    """The bit of a step condition among the events of a call. Those behind the last have one in common."""
    return 1 << min(number + 1, WORD_BITS - 1)


def chunks(lowered: Lowered) -> Iterator[list[int]]:
    """The instances, in groups small enough for one module each."""
    group: list[int] = []
    size = 0
    for index, instance in enumerate(lowered.instances):
        more = block_size(instance.block)
        if group and size + more > _CHUNK_STATEMENTS:
            yield group
            group, size = [], 0
        size += more
        group.append(index)
    if group:
        yield group


def size_of(lowered: Lowered, group: Iterable[int]) -> int:
    """The statements of a group."""
    return sum(block_size(lowered.instances[index].block) for index in group)


def declared_chunk(name: str) -> str:
    """The declaration of the function of a group that is in another module."""
    return f"declare i64 @{name}(ptr, i64, i64, ptr, ptr, i64, ptr, ptr)"


def chunk_function(plan: Plan, name: str, group: list[int], linkage: str = "internal ") -> str:
    """A function that runs a group of instances on `n` states, 64 at most, `place` being that of the first in the call
    and `masks` what `enabled` wrote of them. Given how many successors were written before, it returns how many are
    written then."""
    code, parts = Code(), []
    code.do(f"%unused = sub i64 {WORD_BITS}, %n")
    code.do("%all = lshr i64 -1, %unused")
    code.carry(COUNT, "%k0")
    for index in group:
        found = _instance_function(plan, f"{name}_instance_{index}", index)
        if found is None:
            continue
        parts.append(found)
        mask = "%all"
        for number in plan.guards.tests_of[index][0]:
            holds = code.put(f"load i64, ptr {code.at('%masks', number)}")
            mask = code.put(f"and i64 {mask}, {holds}")
        some, on = code.join(), code.join()
        code.choose(code.put(f"icmp ne i64 {mask}, 0"), some, on)
        code.start(some)
        batch = f"ptr %states, i64 {mask}, i64 %place, ptr %out, ptr %tags, i64 {code.read(COUNT)}, ptr %notes"
        code.carry(COUNT, code.put(f"call i64 @{name}_instance_{index}({batch})"))
        code.go(on)
        code.start(on)
    code.do(f"ret i64 {code.read(COUNT)}")
    arguments = "ptr %states, i64 %n, i64 %place, ptr %out, ptr %tags, i64 %k0, ptr %notes, ptr %masks"
    return "\n".join([*parts, code.text(f"define {linkage}i64 @{name}({arguments}) #0 {{")])


def _instance_function(plan: Plan, name: str, index: int) -> str | None:
    """A function that runs an instance on those states whose bits in `chosen` are set, one at least, and counts its
    steps; none for an instance that has no step."""
    words, instance = plan.module.words, plan.lowered.instances[index]
    code = Code(temp_kinds([instance.block]), label="state")
    phis: list[str] = []
    lowest = plan.module.intrinsic("llvm.cttz.i64", "i64", "i64, i1")
    code.lines += [
        "  br label %state",
        "state:",
        phis,
        f"  %at = call i64 {lowest}(i64 %left, i1 true)",
        f"  %offset = mul i64 %at, {words}",
        "  %s = getelementptr i64, ptr %states, i64 %offset",
        "  %numbered = add i64 %place, %at",
        "  %tag = shl i64 %numbered, 32",
    ]
    code.carry(COUNT, "%k")
    values = Values(plan.module, code, {BEFORE: "%s"})
    if words <= _LOADED_WORDS_MAX:
        for number in range(words):
            values.word(BEFORE, number)
    end = code.join()
    _print_instance(plan, values, index, end)
    if not end.is_reached:
        return None
    code.start(end)
    count, last = code.read(COUNT), code.label
    phis += [
        f"  %left = phi i64 [ %chosen, %entry ], [ %left1, %{last} ]",
        f"  %k = phi i64 [ %k0, %entry ], [ {count}, %{last} ]",
    ]
    code.do("%less = sub i64 %left, 1")
    code.do("%left1 = and i64 %left, %less")
    code.do("%more = icmp ne i64 %left1, 0")
    code.do("br i1 %more, label %state, label %exit")
    code.lines.append("exit:")
    change(code, plan.notes.steps + instance.action, "add", code.put(f"sub i64 {count}, %k0"))
    code.do(f"ret i64 {count}")
    arguments = "ptr noalias readonly %states, i64 %chosen, i64 %place, ptr noalias %out, ptr noalias %tags, i64 %k0"
    return code.text(f"define internal i64 @{name}({arguments}, ptr noalias %notes) #0 {{")


def _print_instance(plan: Plan, values: Values, index: int, end: Join) -> None:
    """Runs an instance where the rest of its guard holds, and goes to the end."""
    code, instance = values.code, plan.lowered.instances[index]
    outcome = _Outcomes(plan, values, index, instance.action).outcome
    printer = Printer(values, outcome, placed(plan.module, instance.block))
    tests = plan.guards.tests_of[index][1]
    if tests:
        body = code.join()
        printer.all(tests, body, end)
        if not body.is_reached:
            return
        code.start(body)
    printer.block(instance.block, end)


class _Outcomes(Struct, frozen=True):
    """Prints the outcomes of an instance."""

    plan: Plan
    values: Values
    index: int
    action: int

    def outcome(self, statement: Emit | Stopped, end: Target) -> None:
        """Goes to the end by way of what has to be done for an outcome."""
        code = self.values.code
        if isinstance(statement, Stopped):
            code.take(statement, lambda: self.stopped(statement), end)
            return
        words = next_words(self.values, statement.updates)
        for index, word in words.items():
            code.carry((AFTER, index), word)
        changed = tuple(sorted(words))
        watched = tuple(self.plan.watches.of(statement))
        code.take((changed, watched), lambda: self.step(changed, watched), end)

    def step(self, changed: tuple[int, ...], watched: Watched) -> None:
        """Writes a successor of which some words are carried, and the others are as before."""
        code = self.values.code
        after = {index: code.read((AFTER, index)) for index in changed}
        code.drop((AFTER, index) for index in changed)
        self.listed(after, self.index)
        for number, condition in watched:
            scope = code.scope()
            for index in range(self.plan.module.words):
                code.learn((AFTER, index), after.get(index) or self.values.word(BEFORE, index))
            hit, on = code.join(), code.join()
            Printer(self.values, self.outcome).jump(condition, hit, on)
            code.forget(scope)
            if hit.is_reached:
                code.start(hit)
                change(code, self.plan.notes.events, "or", str(signed(step_event(number))))
                code.go(on)
            code.start(on)

    def listed(self, changed: Mapping[int, str], tag: int) -> None:
        """Writes a successor, which differs from the state in some words, and its tag."""
        code, words = self.values.code, self.plan.module.words
        count = code.read(COUNT)
        address = code.at("%out", code.put(f"mul i64 {count}, {words}") if words > 1 else count)
        if words > _COPIED_INLINE_MAX:
            code.do(f"call void {self.plan.module.copying()}(ptr {address}, ptr %s)")
        for first, size in pieces(words) if words <= _COPIED_INLINE_MAX else ():
            if all(index in changed for index in range(first, first + size)):
                continue
            if size == 1:
                code.do(f"store i64 {self.values.word(BEFORE, first)}, ptr {code.at(address, first)}")
                continue
            several = code.put(f"load <{size} x i64>, ptr {code.at('%s', first)}, align 8")
            code.do(f"store <{size} x i64> {several}, ptr {code.at(address, first)}, align 8")
        for index, word in changed.items():
            code.do(f"store i64 {word}, ptr {code.at(address, index)}")
        code.do(f"store i64 {code.put(f'add i64 %tag, {tag}')}, ptr {code.at('%tags', count)}")
        code.carry(COUNT, code.put(f"add i64 {count}, 1"))

    def stopped(self, stopped: Stopped) -> None:
        code, notes = self.values.code, self.plan.notes
        if stopped.kind == "bound":
            change(code, notes.bounds_reached + self.plan.bounds[stopped.text], "add", "1")
        else:
            change(code, notes.events, "or", str(ERROR_EVENT))
            where = code.put(f"add i64 %tag, {self.index}")
            least = self.plan.module.intrinsic("llvm.umin.i64", "i64", "i64, i64")
            address = code.at("%notes", notes.least_error)
            before = code.put(f"load i64, ptr {address}")
            code.do(f"store i64 {code.put(f'call i64 {least}(i64 {before}, i64 {where})')}, ptr {address}")
        if self.plan.unblocking is not None and self.action in self.plan.unblocking:
            place = code.put(f"and i64 {code.put('lshr i64 %tag, 32')}, {WORD_BITS - 1}")
            change(code, notes.alive, "or", code.put(f"shl i64 1, {place}"))
        if self.plan.lists_stops:
            self.listed({}, self.index | STOP_BIT)
            change(code, notes.steps + self.action, "sub", "1")


def change(code: Code, place: int, operator: str, amount: str) -> None:
    """Changes a word of the notes."""
    address = code.at("%notes", place)
    before = code.put(f"load i64, ptr {address}")
    code.do(f"store i64 {code.put(f'{operator} i64 {before}, {amount}')}, ptr {address}")
