"""The lowered form as text, to be read."""

from __future__ import annotations

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Lowered, Merge, SetTemp, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Layout
from hacheck.model.interpreter import call

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "and": "and",
    "or": "or",
    "bitand": "&",
    "bitor": "|",
    "bitminus": "&~",
    "shl": "<<",
    "shr": ">>",
}


def lowered_text(lowered: Lowered) -> str:
    """The slots, then every action instance: its guard, then its block."""
    return f"{_layout_text(lowered.layout)}\n{_instances_text(lowered)}"


def _layout_text(layout: Layout) -> str:
    """One line for each slot: its bits, the greatest number it holds, its name; constant slots at the end."""
    ordered = sorted(layout.slots, key=lambda slot: (slot.fixed is not None, slot.offset))
    lines = [f"{layout.width} bits"]
    for slot in ordered:
        if slot.fixed is None:
            lines.append(f"{slot.offset:>5} +{slot.width:<3} 0..{slot.high:<6} {slot.name}")
        else:
            lines.append(f"    always {slot.fixed:<7} {slot.name}")
    return "\n".join(lines) + "\n"


def _instances_text(lowered: Lowered) -> str:
    lines: list[str] = []
    for instance in lowered.instances:
        guard = " and ".join(node_text(test, lowered.layout) for test in instance.guard) or "always"
        lines.append(f"{call(lowered.system, instance.action, instance.arguments)} when {guard}")
        lines += _block_lines(instance.block, lowered.layout, 1)
    return "\n".join(lines) + "\n"


def node_text(node: Node, layout: Layout) -> str:
    """An expression with the names of slots; `new` marks what a slot holds after the step or after a merge."""
    operands = [node_text(operand, layout) for operand in node.operands]
    match node.operator:
        case "const":
            return str(node.number)
        case "slot":
            return layout.slots[node.number].name
        case "after":
            return f"new {layout.slots[node.number].name}"
        case "temp":
            return f"t{node.number}"
        case "part":
            return f"new {layout.slots[node.detail].name} of m{node.number}"
        case operator if operator in _SIGNS:
            return f"({f' {_SIGNS[operator]} '.join(operands)})"
        case _:
            return f"{node.operator}({', '.join(operands)})"


def _block_lines(block: Block, layout: Layout, depth: int) -> list[str]:
    lines: list[str] = []
    for statement in block:
        match statement:
            case Branch(condition, then, otherwise):
                lines.append(f"if {node_text(condition, layout)}")
                lines += _block_lines(then, layout, 1)
                if otherwise:
                    lines += ["else", *_block_lines(otherwise, layout, 1)]
            case Emit(updates):
                lines.append(f"step {_updates_text(updates, layout)}")
            case Merge(merge, parts):
                lines.append(f"m{merge} := {_updates_text(parts, layout)}")
            case SetTemp(temp, value):
                lines.append(f"t{temp} := {node_text(value, layout)}")
            case Stopped(kind, text):
                lines.append(f"{kind}: {text}")
    return [f"{'  ' * depth}{line}" for line in lines]


def _updates_text(updates: tuple[Update, ...], layout: Layout) -> str:
    written = (f"{layout.slots[update.slot].name} := {node_text(update.value, layout)}" for update in updates)
    return ", ".join(written) or "without a change"
