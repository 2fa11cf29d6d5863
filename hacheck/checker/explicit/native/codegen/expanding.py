"""`expand`: the successors of a batch of states, by functions that each run some of the instances on all of the batch.

Several functions share the instances, so that the cost of compiling is linear. Instances that have a test in common
gain from being in one function, so these are large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hacheck.checker.explicit.deciding import Alternatives, Guarded, Tree, decide, subject_of
from hacheck.checker.explicit.native.codegen.blocks import Printer, Target, temp_kinds
from hacheck.checker.explicit.native.codegen.composing import next_words
from hacheck.checker.explicit.native.codegen.flow import COUNT, Code, Join
from hacheck.checker.explicit.native.codegen.instructions import Values
from hacheck.checker.explicit.native.codegen.module import AFTER, BEFORE, Module, signed
from hacheck.checker.explicit.native.codegen.notes import Notes
from hacheck.checker.explicit.native.codegen.placing import placed
from hacheck.checker.explicit.native.codegen.watching import Watched, Watches
from hacheck.checker.explicit.native.codegen.widths import width_of
from hacheck.checker.explicit.native.codegen.words import WORD_BITS
from hacheck.model.data import dataclass
from hacheck.model.lowering.blocks import Branch, Emit, Lowered, Stopped
from hacheck.model.lowering.nodes import Node
from hacheck.model.lowering.system import block_size

_CHUNK_STATEMENTS = 2_000
_SWITCH_CASES_MIN = 3
_LOADED_WORDS_MAX = 2  # of so many words all are loaded at once, of more each where it is needed

STOP_BIT = 1 << 31
"""Set in the tag of an outcome that is no step."""

FAULT_EVENT = 1
"""The bit of an error of the spec among the events of a call; the step conditions' bits are above it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the functions of an expansion know. `bounds`: the counter of each bound; `lively`: the actions whose
    outcomes keep a state from being a dead end, if that is asked; `lists_stops`: whether outcomes that are no step are
    listed."""

    lowered: Lowered
    module: Module
    notes: Notes
    bounds: Mapping[str, int]
    watches: Watches
    lively: frozenset[int] | None
    lists_stops: bool


def step_event(number: int) -> int:
    """The bit of a step condition among the events of a call. Those behind the last have one in common."""
    return 1 << min(number + 1, WORD_BITS - 1)


def chunks(lowered: Lowered) -> Iterator[list[Guarded]]:
    """The instances, in groups small enough for one function each."""
    group: list[Guarded] = []
    size = 0
    for index, instance in enumerate(lowered.instances):
        more = block_size(instance.block)
        if group and size + more > _CHUNK_STATEMENTS:
            yield group
            group, size = [], 0
        size += more
        group.append(Guarded(index, instance, instance.guard))
    if group:
        yield group


def size_of(group: Iterable[Guarded]) -> int:
    """The statements of a group."""
    return sum(block_size(guarded.instance.block) for guarded in group)


def declared_chunk(name: str) -> str:
    """The declaration of the function of a group that is in another module."""
    return f"declare i64 @{name}(ptr, i64, i64, ptr, ptr, i64, ptr)"


def chunk_function(plan: Plan, name: str, group: list[Guarded], linkage: str = "internal ") -> str:
    """A function that runs a group of instances on `n` states, one at least, `place` being that of the first in the
    call. Given how many successors were written before, it returns how many are written then."""
    words = plan.module.words
    code = Code(temp_kinds(guarded.instance.block for guarded in group), label="state")
    phis: list[str] = []
    code.lines += [
        f"  %length = mul i64 %n, {words}",
        "  %end = getelementptr i64, ptr %states, i64 %length",
        "  %tag0 = shl i64 %place, 32",
        "  br label %state",
        "state:",
        phis,
    ]
    code.carry(COUNT, "%k")
    values = Values(plan.module, code, {BEFORE: "%s"})
    if words <= _LOADED_WORDS_MAX:
        for index in range(words):
            values.word(BEFORE, index)
    end = code.join()
    _Chunk(plan, values).tree(decide(group), end)
    code.start(end)
    count, last = code.read(COUNT), code.label
    phis += [
        f"  %s = phi ptr [ %states, %entry ], [ %s1, %{last} ]",
        f"  %k = phi i64 [ %k0, %entry ], [ {count}, %{last} ]",
        f"  %tag = phi i64 [ %tag0, %entry ], [ %tag1, %{last} ]",
    ]
    code.do(f"%s1 = getelementptr i64, ptr %s, i64 {words}")
    code.do(f"%tag1 = add i64 %tag, {1 << 32}")
    code.do("%more = icmp ne ptr %s1, %end")
    code.do("br i1 %more, label %state, label %exit")
    code.lines += ["exit:", f"  ret i64 {count}"]
    arguments = "ptr noalias readonly %states, i64 %n, i64 %place, ptr noalias %out, ptr noalias %tags, i64 %k0"
    return code.text(f"define {linkage}i64 @{name}({arguments}, ptr noalias %notes) #0 {{")


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Prints the instances of a chunk."""

    plan: Plan
    values: Values

    def tree(self, tree: Tree, end: Join) -> None:
        """Runs every instance of a tree and goes to the end."""
        code = self.values.code
        for number, item in enumerate(tree):
            after = end if number == len(tree) - 1 else code.join()
            scope = code.scope()
            if isinstance(item, Guarded):
                self.instance(item, after)
            else:
                self.alternatives(item, after)
            code.forget(scope)
            if after is not end:
                code.start(after)

    def alternatives(self, item: Alternatives, end: Join) -> None:
        """Runs the tree of the test that holds, if one does."""
        code = self.values.code
        contents = [_content(test) for test, _ in item.cases]
        subject = subject_of(item.cases[0][0])
        if subject is not None and len(item.cases) >= _SWITCH_CASES_MIN and width_of(subject) == WORD_BITS:
            targets = [code.join() for _ in item.cases]
            code.switch(self.values.number(subject), dict(zip(contents, targets, strict=True)), end)
            for target, (_, inner) in zip(targets, item.cases, strict=True):
                self.inside(inner, target, end)
            return
        opposite = self.plan.lowered.graph.not_(item.cases[0][0])
        for number, (test, inner) in enumerate(item.cases):
            if number and test is opposite:
                self.tree(inner, end)
                return
            target = code.join()
            other = end if number == len(item.cases) - 1 else code.join()
            code.choose(self.values.truth(test), target, other)
            self.inside(inner, target, end)
            if other is not end:
                code.start(other)

    def inside(self, tree: Tree, start: Join, end: Join) -> None:
        """Runs a tree in a block of its own."""
        code = self.values.code
        scope = code.scope()
        code.start(start)
        self.tree(tree, end)
        code.forget(scope)

    def instance(self, guarded: Guarded, end: Join) -> None:
        """Runs an instance where its tests hold, counts its steps, and goes to the end."""
        code = self.values.code
        action, block = guarded.instance.action, guarded.instance.block
        outcome = _Outcomes(self.plan, self.values, guarded.index, action).outcome
        printer = Printer(self.values, outcome, placed(self.plan.module, block))
        if guarded.tests:
            body = code.join()
            printer.all(guarded.tests, body, end)
            if not body.is_reached:
                return
            code.start(body)
        before, done = code.read(COUNT), code.join()
        printer.block(block, done)
        code.start(done)
        if any(isinstance(statement, Branch) for statement in block):
            amount = code.put(f"sub i64 {code.read(COUNT)}, {before}")
            code.carried = {COUNT: code.read(COUNT)}
        else:
            listed = Emit | Stopped if self.plan.lists_stops else Emit
            amount = str(sum(isinstance(statement, listed) for statement in block))
        if amount != "0":
            change(code, self.plan.notes.steps + action, "add", amount)
        code.go(end)


@dataclass(frozen=True, slots=True)
class _Outcomes:
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
        for first, size in pieces(words):
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
        if stopped.kind == "cut":
            change(code, notes.cuts + self.plan.bounds[stopped.text], "add", "1")
        else:
            change(code, notes.events, "or", str(FAULT_EVENT))
            where = code.put(f"add i64 %tag, {self.index}")
            least = self.plan.module.intrinsic("llvm.umin.i64", "i64", "i64, i64")
            address = code.at("%notes", notes.least_fault)
            before = code.put(f"load i64, ptr {address}")
            code.do(f"store i64 {code.put(f'call i64 {least}(i64 {before}, i64 {where})')}, ptr {address}")
        if self.plan.lively is not None and self.action in self.plan.lively:
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


def pieces(words: int) -> Iterator[tuple[int, int]]:
    """The words of a state in pieces that one instruction copies: the first of each, and how many."""
    first = 0
    while first < words:
        size = 4 if words - first >= 4 else 2 if words - first >= 2 else 1
        yield first, size
        first += size


def _content(test: Node) -> int:
    """The slot's content for which a test of it holds."""
    return test.operands[1].number if test.operator == "eq" else int(test.operator != "not")
