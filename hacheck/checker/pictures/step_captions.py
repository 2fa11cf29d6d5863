"""The caption of a step beside its row: the action, then what came of it, in as few words as can be understood."""

from __future__ import annotations

import re

from hacheck.checker.run_view.captions import acknowledgements, calls_said
from hacheck.checker.run_view.story import fault_words
from hacheck.checker.run_view.view_reader import FieldChange, ViewReader, names_of

FIELDS_MAX = 3
"""So many fields that changed are named."""


HOST_MAX = 8
"""So long a name is at most that needs no shorter one."""


class StepCaptions:
    """Captions of a run. With `short`, nodes are named by their numbers, as above the lanes."""

    def __init__(self, reader: ViewReader, *, short: bool) -> None:
        self.reader = reader
        self._short = _short_names(reader)
        self.short = short
        self._names = names_of(reader.nodes)
        self.needed = reader.needed_faults
        self.read = {name.rpartition(".")[2] for name in (reader.property or {}).get("reads", ())}

    def name(self, node: str) -> str:
        """The short name of a node: `1`, or `S1` where there are several kinds."""
        return self._short.get(node, node)

    def words(self, text: str) -> str:
        """Text with short names of nodes, and values of records without the names of their fields."""
        plain = re.sub(r"\b[A-Z]\w*\((\w+: [^()]*)\)", _without_fields, text)
        if not self.short or not self.reader.nodes:
            return plain
        return self._names.sub(lambda found: self.name(found[0]), plain)

    def caption(self, step: int) -> tuple[str, str]:
        """What is done, and what comes of it; of code with the time before it."""
        head, body = self._caption(step)
        at = self.reader.steps[step - 1].get("at")
        if at is None:
            return head, body
        time = f"{at:.4f}".rstrip("0").rstrip(".") + " s"
        return (f"{time} {head}", body) if head else ("", f"{time} {body}")

    def _caption(self, step: int) -> tuple[str, str]:
        reader = self.reader
        kind = reader.steps[step - 1]["kind"]
        if kind == "fault":
            return "", self._fault(step)
        repaired = self._repair(step) if kind == "repair" else ""
        if repaired or (kind == "repair" and not reader.steps[step - 1]["caption"][0]):
            return "", repaired or self.words(reader.steps[step - 1]["caption"][1])
        said = [
            *self._locks(step),
            *self._messages(step),
            *calls_said(reader.effects(step, "call"), reader.actor(step), self.words),
        ]
        said += [f"{self.words(one['node'])} halts" for one in reader.effects(step, "halt")]
        said += self._of_code(step)
        said += [self.words(words) for words in acknowledgements(reader.effects(step, "acknowledged"))]
        said += self._fields(step, alone=not said)
        return self._head(step), "; ".join(said)

    def _head(self, step: int) -> str:
        """The action with its parameters and what was chosen in it; who sent what it takes is said behind it."""
        made = self.reader.steps[step - 1]
        head = str(made["caption"][0] or made["action"])
        name = re.split(r"[(;]| chooses ", head, maxsplit=1)[0]
        given = f"({', '.join(made['arguments'])})" if made["arguments"] else ""
        chosen = f" chooses {', '.join(made['choices'])}" if made["choices"] else ""
        return self.words(f"{name}{given}{chosen}{self._sender(step)}")

    def _sender(self, step: int) -> str:
        """Who sent the message that a step is called after, as steps of code are."""
        made = self.reader.steps[step - 1]
        for effect in self.reader.effects(step, "take"):
            if effect["name"] == made["action"]:
                late = f" (sent at {effect['sent']})" if step - effect.get("sent", step) > 1 else ""
                return f" from {effect['from']}{late}"
        return ""

    def _of_code(self, step: int) -> list[str]:
        """What else is said of a step of code: what it records."""
        made = self.reader.steps[step - 1]
        return [self.words(made["caption"][1])] if "at" in made and made["caption"][1] else []

    def _fault(self, step: int) -> str:
        words = fault_words(self.reader, step)
        words = re.sub(r"\bcrash(es)?\b", lambda found: found[0].upper(), re.sub(r"\b(is|are) cut$", r"\1 CUT", words))
        words = re.sub(r"\bis lost\b", "is LOST", words)
        if "at" in self.reader.steps[step - 1] and self.reader.effects(step, "crash"):
            detail = self.reader.steps[step - 1]["caption"][1]
            words += f": {detail}" if detail else ""
        if self.reader.effects(step, "pause"):
            words += ": it does nothing, and does not know"
        cleared = self.reader.effects(step, "cleared")
        if cleared and self.reader.effects(step, "crash"):
            words += f"; what was under way with it is lost: {', '.join(sorted({one['name'] for one in cleared}))}"
        words = words if self.reader.effects(step, "crash", "pause") else self.words(words)
        return f"{words} (needed, says --blame)" if step in self.needed else words

    def _repair(self, step: int) -> str:
        for effect in self.reader.effects(step, "restart", "resume"):
            return f"{effect['node']} {'restarts' if effect['t'] == 'restart' else 'goes on where it was'}"
        healed = self.reader.effects(step, "heal")
        links = ", ".join(f"{self.words(one['a'])} - {self.words(one['b'])}" for one in healed)
        return f"the link {links} works again" if healed else ""

    # ---- between nodes ----

    def _locks(self, step: int) -> list[str]:
        said = []
        for effect in self.reader.effects(step, "lock"):
            before, after = self.words(effect["before"]), self.words(effect["after"])
            said.append(f"{effect['lock']}: {before} -> {after}" if after != "none" else f"{effect['lock']} let go")
        return said

    def _messages(self, step: int) -> list[str]:
        said = []
        sent: dict[str, list[str]] = {}
        for effect in self.reader.effects(step, "send"):
            if effect.get("until") == step:
                continue  # it is lost at once, which is said below
            sent.setdefault(effect["name"], []).append(self.words(effect["to"]))
        for name, receivers in sent.items():
            said.append(f"sends {_message(name)} to {', '.join(dict.fromkeys(receivers))}")
        for effect in self.reader.effects(step, "take"):
            late = f" (sent at {effect['sent']})" if effect.get("sent") and step - effect["sent"] > 1 else ""
            if effect["name"] != self.reader.steps[step - 1]["action"]:  # else the step is called after it
                said.append(f"takes {_message(effect['name'])} of {self.words(effect['from'])}{late}")
        for effect in self.reader.effects(step, "lost", "cleared", "replaced"):
            link = f"{self.words(effect['from'])} -> {self.words(effect['to'])}"
            how = "is replaced" if effect["t"] == "replaced" else "is lost"
            said.append(f"{_message(effect['name'])} {link} {how}")
        return said

    # ---- fields ----

    def _fields(self, step: int, *, alone: bool) -> list[str]:
        """Fields that the property reads or that name a node; others where nothing else is said."""
        reader, actor = self.reader, self.reader.actor(step)
        plain = [one for one in reader.changes(step) if one.role in ("field", "shared", "clock", "view")]
        fields = [one for one in plain if not one.mode and one.variable not in reader.promised]
        chosen = [one for one in fields if self._matters(one)]
        if not chosen and alone:
            first = fields or [one for one in plain if one.owner != actor]
            chosen = [one for one in first if one.name == first[0].name]
        chosen.sort(key=lambda one: (not self._is_read(one), one.owner != actor))
        grouped: dict[tuple[str, str], list[str]] = {}
        for one in chosen:
            grouped.setdefault((one.name, self.words(one.after)), []).append(one.owner)
        said = []
        for (name, after), owners in list(grouped.items())[:FIELDS_MAX]:
            others = [self.words(owner) for owner in owners if owner and owner != actor]
            whose = f" of {', '.join(others)}" if others and actor not in owners else ""
            said.append(f"{self.words(name)}{whose} = {after}")
        return [*said, "…"] if len(grouped) > FIELDS_MAX else said

    def _is_read(self, change: FieldChange) -> bool:
        return change.name.partition("[")[0] in self.read

    def _matters(self, change: FieldChange) -> bool:
        return self._is_read(change) or (bool(change.owner) and bool(self.reader.mentions(change.after)))


def _short_names(reader: ViewReader) -> dict[str, str]:
    """Nodes by their numbers, with a letter where kinds mix, or their kind where two begin with the same letter. Those
    without numbers keep their names, and so do hosts, which have no blank and are no longer than `HOST_MAX`."""
    long = (node for node in reader.nodes if len(node) > HOST_MAX or " " in node)
    numbered = {node: found for node in long if (found := re.fullmatch(r"(.*?)[ -]?(\d+)", node))}
    stems = list(dict.fromkeys(found[1] for found in numbered.values()))
    letters = [stem[:1] for stem in stems]
    alone = len(stems) == 1 and len(numbered) == len(reader.nodes)
    short = {}
    for node, found in numbered.items():
        stem, number = found.groups()
        short[node] = number if alone else f"{stem[:1] if letters.count(stem[:1]) == 1 else f'{stem} '}{number}"
    return short


def _without_fields(found: re.Match[str]) -> str:
    return "(" + ", ".join(part.split(": ", 1)[-1] for part in found[1].split(", ")) + ")"


def _message(name: str) -> str:
    """`invitation`; of the parts of a call that takes several steps what they are."""
    operation, _, part = name.rpartition(".")
    return f"{'the call' if part == 'request' else 'the answer to'} {operation}" if operation else name
