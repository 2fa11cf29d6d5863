"""`expand` itself, and what it does after each batch of states: noting the first error of the spec, the steps that
satisfy a condition, and the deadlocks. What runs the instances only leaves a sign that there is something to note.

In the functions here `states` are those of a batch, the first at `place` in the call; its successors are at `out[k0]`
up to `out[k1]`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.compile.codegen.condition_functions import ANYTHING, copy, note
from hacheck.compile.codegen.enabled_function import enabled_function
from hacheck.compile.codegen.function_text import Code
from hacheck.compile.codegen.module import listed, signed
from hacheck.compile.codegen.successor_functions import STOP_BIT, Plan, step_event
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.layout import slots_of

_BATCH = WORD_BITS  # a word has a bit for each state of a batch

_ARGUMENTS = "ptr %states, i64 %place, ptr %out, ptr %tags, i64 %k0, i64 %k1, ptr %notes"


def expand_function(plan: Plan, chunks: Sequence[str], watched: Sequence[str], dead: Sequence[str]) -> list[str]:
    """`expand` and what it calls: given the functions of the chunks, of the step conditions, and the finders of the
    deadlock conditions."""
    module, notes, code = plan.module, plan.notes, Code()
    code.label = "batch"
    least = module.intrinsic("llvm.umin.i64", "i64", "i64, i64")
    code.do(f"%m = call i64 {least}(i64 %left, i64 {_BATCH})")
    code.do(f"%s = getelementptr i64, ptr %states, i64 {code.put(f'mul i64 %place, {module.words}')}")
    count = "%k"
    if dead:  # what the batch before left, whether or not it was looked at
        code.do(f"store i64 0, ptr {code.put(f'getelementptr i64, ptr %notes, i64 {notes.alive}')}")
    code.do("call void @enabled(ptr %s, i64 %m, ptr %masks)")
    for chunk in chunks:
        batch = f"ptr %s, i64 %m, i64 %place, ptr %out, ptr %tags, i64 {count}, ptr %notes, ptr %masks"
        count = code.put(f"call i64 @{chunk}({batch})")
    arguments = f"ptr %s, i64 %place, ptr %out, ptr %tags, i64 %k, i64 {count}, ptr %notes"
    events, on = code.join(), code.join()
    sign = code.put(f"load i64, ptr {code.put(f'getelementptr i64, ptr %notes, i64 {notes.events}')}")
    code.choose(code.put(f"icmp ne i64 {sign}, 0"), events, on)
    code.start(events)
    code.do(f"call void @note_events({arguments})")
    code.go(on)
    code.start(on)
    parts = [enabled_function(module, plan.guards.tests), _events_function(plan, watched)]
    if watched:
        parts.append(_first_step_function(plan))
    if dead:
        found = "1"
        for number in range(len(dead)):
            place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.dead_hit(number)}")
            found = code.put(f"and i64 {found}, {code.put(f'load i64, ptr {place}')}")
        pending, on = code.join(), code.join()
        code.choose(code.put(f"icmp eq i64 {found}, 0"), pending, on)
        code.start(pending)
        code.do(f"call void @note_deadlocks({arguments}, i64 %m)")
        code.go(on)
        code.start(on)
        parts.append(_deadlocks_function(plan, dead))
    return [*parts, _loop_text(code, count, plan.guards.bytes)]


def _loop_text(code: Code, count: str, mask_bytes: int) -> str:
    code.lines[:0] = [
        f"  %masks = alloca [{mask_bytes} x i8], align 64",
        *(f"  %{name} = inttoptr i64 %{name}_address to ptr" for name in ("states", "out", "tags", "notes")),
        f"""  br label %head
head:
  %place = phi i64 [ 0, %entry ], [ %place1, %{code.label} ]
  %k = phi i64 [ 0, %entry ], [ {count}, %{code.label} ]
  %left = sub i64 %n, %place
  %inside = icmp ne i64 %left, 0
  br i1 %inside, label %batch, label %exit
exit:
  ret i64 %k
batch:""",
    ]
    code.do("%place1 = add i64 %place, %m")
    code.do("br label %head")
    arguments = ", ".join(f"i64 %{name}_address" for name in ("out", "tags", "notes"))
    return code.text(f"define i64 @expand(i64 %states_address, i64 %n, {arguments}) #0 {{")


def _events_function(plan: Plan, watched: Sequence[str]) -> str:
    """Notes what there are signs of: an error of the spec, and the first steps that satisfy pending conditions."""
    module, notes, code = plan.module, plan.notes, Code()
    place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.events}")
    events = code.put(f"load i64, ptr {place}")
    code.do(f"store i64 0, ptr {place}")
    error, on = code.join(), code.join()
    code.choose(code.put(f"trunc i64 {events} to i1"), error, on)
    code.start(error)
    least_place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.least_error}")
    least = code.put(f"load i64, ptr {least_place}")
    code.do(f"store i64 -1, ptr {least_place}")
    found_place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.error}")
    first = code.join()
    code.choose(code.put(f"icmp eq i64 {code.put(f'load i64, ptr {found_place}')}, 0"), first, on)
    code.start(first)
    code.do(f"store i64 1, ptr {found_place}")
    instance_place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.error + 1}")
    code.do(f"store i64 {code.put(f'and i64 {least}, {(1 << 32) - 1}')}, ptr {instance_place}")
    copy(module, code, _state_at(plan, code, least), notes.error + 2)
    code.go(on)
    code.start(on)
    for number, condition in enumerate(watched):
        inspected, search, hit, on = (code.join() for _ in range(4))
        sign = code.put(f"and i64 {events}, {signed(step_event(number))}")
        code.choose(code.put(f"icmp ne i64 {sign}, 0"), inspected, on)
        code.start(inspected)
        hit_place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.step_hit(number)}")
        code.choose(code.put(f"icmp eq i64 {code.put(f'load i64, ptr {hit_place}')}, 0"), search, on)
        code.start(search)
        batch = "ptr %states, i64 %place, ptr %out, ptr %tags, i64 %k0, i64 %k1"
        step = code.put(f"call i64 @first_step(ptr @{condition}, {batch})")
        code.choose(code.put(f"icmp ult i64 {step}, %k1"), hit, on)
        code.start(hit)
        tag = code.put(f"load i64, ptr {code.put(f'getelementptr i64, ptr %tags, i64 {step}')}")
        after = code.put(f"getelementptr i64, ptr %out, i64 {code.put(f'mul i64 {step}, {module.words}')}")
        note(module, code, notes.step_hit(number), _state_at(plan, code, tag), after)
        code.go(on)
        code.start(on)
    code.do("ret void")
    return code.text(f"define internal void @note_events({_ARGUMENTS}) #0 {{")


def _state_at(plan: Plan, code: Code, tag: str) -> str:
    """The address of the state that a tag is about."""
    place = code.put(f"sub i64 {code.put(f'lshr i64 {tag}, 32')}, %place")
    return code.put(f"getelementptr i64, ptr %states, i64 {code.put(f'mul i64 {place}, {plan.module.words}')}")


def _first_step_function(plan: Plan) -> str:
    """Which step of a batch satisfies a condition: of those from the first state that has some, the first."""
    arguments = "ptr %condition, ptr %states, i64 %place, ptr %out, ptr %tags, i64 %k0, i64 %k1"
    return f"""define internal i64 @first_step({arguments}) #0 {{
entry:
  br label %head
head:
  %k = phi i64 [ %k0, %entry ], [ %k2, %next ]
  %best = phi i64 [ %k1, %entry ], [ %best2, %next ]
  %bound = phi i64 [ -1, %entry ], [ %bound2, %next ]
  %inside = icmp ult i64 %k, %k1
  br i1 %inside, label %step, label %exit
exit:
  ret i64 %best
step:
  %tag_place = getelementptr i64, ptr %tags, i64 %k
  %tag = load i64, ptr %tag_place
  %from = lshr i64 %tag, 32
  %stop = and i64 %tag, {STOP_BIT}
  %taken = icmp eq i64 %stop, 0
  %earlier = icmp ult i64 %from, %bound
  %wanted = and i1 %taken, %earlier
  br i1 %wanted, label %ask, label %next
ask:
  %index = sub i64 %from, %place
  %offset = mul i64 %index, {plan.module.words}
  %s = getelementptr i64, ptr %states, i64 %offset
  %offset2 = mul i64 %k, {plan.module.words}
  %t = getelementptr i64, ptr %out, i64 %offset2
  %holds = call i1 %condition(ptr %s, ptr %t)
  br i1 %holds, label %better, label %next
better:
  br label %next
next:
  %best2 = phi i64 [ %best, %step ], [ %best, %ask ], [ %k, %better ]
  %bound2 = phi i64 [ %bound, %step ], [ %bound, %ask ], [ %from, %better ]
  %k2 = add i64 %k, 1
  br label %head
}}"""


def _deadlocks_function(plan: Plan, dead: Sequence[str]) -> str:
    """Evaluates the pending deadlock conditions in the states of a batch that no unblocking step leads out of."""
    notes = plan.notes
    incoming = ", ".join(f"[ %alive, %{label} ]" for label in ("step", "unblocking", "known_step", "compare"))
    return f"""{_unblocking_table(plan)}define internal void @note_deadlocks({_ARGUMENTS}, i64 %m) #0 {{
entry:
  %alive_place = getelementptr i64, ptr %notes, i64 {notes.alive}
  %alive0 = load i64, ptr %alive_place
  br label %head
head:
  %k = phi i64 [ %k0, %entry ], [ %k2, %next ]
  %alive = phi i64 [ %alive0, %entry ], [ %alive2, %next ]
  %inside = icmp ult i64 %k, %k1
  br i1 %inside, label %step, label %counted
step:
  %tag_place = getelementptr i64, ptr %tags, i64 %k
  %tag = load i64, ptr %tag_place
  %from = lshr i64 %tag, 32
  %index = sub i64 %from, %place
  %bit = shl i64 1, %index
  %known = and i64 %alive, %bit
  %open = icmp eq i64 %known, 0
  br i1 %open, label %unblocking, label %next
unblocking:
  %instance = and i64 %tag, {(1 << 32) - 1}
  %taken = icmp ult i64 %instance, {STOP_BIT}
  br i1 %taken, label %known_step, label %next
known_step:
  %unblocking_place = getelementptr i8, ptr @unblocking, i64 %instance
  %unblocking_byte = load i8, ptr %unblocking_place
  %counts = icmp ne i8 %unblocking_byte, 0
  br i1 %counts, label %compare, label %next
compare:
  %offset = mul i64 %index, {plan.module.words}
  %s = getelementptr i64, ptr %states, i64 %offset
  %offset2 = mul i64 %k, {plan.module.words}
  %t = getelementptr i64, ptr %out, i64 %offset2
{_difference_text(plan)}
  br i1 %differs, label %way, label %next
way:
  %alive1 = or i64 %alive, %bit
  br label %next
next:
  %alive2 = phi i64 {incoming}, [ %alive1, %way ]
  %k2 = add i64 %k, 1
  br label %head
{_deadlock_conditions(plan, dead)}
}}"""


def _difference_text(plan: Plan) -> str:
    """Whether the states at `%s` and `%t` differ, as `%differs`."""
    code = Code()
    difference = "0"
    unseen = _unseen(plan)
    for index in range(plan.module.words):
        sides = []
        for name in ("%s", "%t"):
            place = code.put(f"getelementptr i64, ptr {name}, i64 {index}")
            sides.append(code.put(f"load i64, ptr {place}"))
        changed = code.put(f"xor i64 {sides[0]}, {sides[1]}")
        if kept := unseen.get(index):
            changed = code.put(f"and i64 {changed}, {signed(~kept)}")
        difference = code.put(f"or i64 {difference}, {changed}")
    code.do(f"%differs = icmp ne i64 {difference}, 0")
    return code.body()


def _unseen(plan: Plan) -> dict[int, int]:
    """For words the bits that do not count as changed, as an exploration notes something there for itself."""
    found: dict[int, int] = {}
    lowered = plan.lowered
    for variable, place in zip(lowered.system.variables, lowered.layout.places, strict=True):
        for slot in slots_of(place) if variable.role == "distance" else ():
            word, shift = divmod(lowered.layout.slots[slot].offset, WORD_BITS)
            found[word] = found.get(word, 0) | ((1 << lowered.layout.slots[slot].width) - 1) << shift
    return found


def _deadlock_conditions(plan: Plan, dead: Sequence[str]) -> str:
    """Evaluates the pending conditions in each state that is not alive."""
    module, notes, code = plan.module, plan.notes, Code(prefix="d")
    lowest = module.intrinsic("llvm.cttz.i64", "i64", "i64, i1")
    code.label = "dead_state"
    code.do(f"%at = call i64 {lowest}(i64 %dead, i1 true)")
    code.do(f"%dead1 = and i64 %dead, {code.put('sub i64 %dead, 1')}")
    state = code.put(f"getelementptr i64, ptr %states, i64 {code.put(f'mul i64 %at, {module.words}')}")
    for number, finder in enumerate(dead):
        ask, hit, on = code.join(), code.join(), code.join()
        place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.dead_hit(number)}")
        code.choose(code.put(f"icmp eq i64 {code.put(f'load i64, ptr {place}')}, 0"), ask, on)
        code.start(ask)
        found = code.put(f"call i64 @{finder}(ptr {state}, i64 1, ptr {ANYTHING}, i64 0, i64 0)")
        code.choose(code.put(f"icmp eq i64 {found}, 0"), hit, on)
        code.start(hit)
        note(module, code, notes.dead_hit(number), state)
        code.go(on)
        code.start(on)
    return f"""counted:
  %unused = sub i64 {_BATCH}, %m
  %all = lshr i64 -1, %unused
  %not_alive = xor i64 %alive, -1
  %dead0 = and i64 %all, %not_alive
  br label %dead_head
dead_head:
  %dead = phi i64 [ %dead0, %counted ], [ %dead1, %{code.label} ]
  %some = icmp ne i64 %dead, 0
  br i1 %some, label %dead_state, label %exit
exit:
  ret void
dead_state:
{code.body()}
  br label %dead_head"""


def _unblocking_table(plan: Plan) -> str:
    """By instance: whether it keeps a state from being a deadlock. (One more entry: no table is empty.)"""
    unblocking = plan.unblocking or frozenset()
    entries = [*(int(instance.action in unblocking) for instance in plan.lowered.instances), 0]
    return f"@unblocking = private unnamed_addr constant [{len(entries)} x i8] [{listed('i8', entries)}]\n"
