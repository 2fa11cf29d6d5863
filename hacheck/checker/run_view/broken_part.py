"""Which part of a property is false where its run ends, and the facts that make it so, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.checker.run_view.view_reader import Json, ViewReader

FACTS_MAX = 6
"""So many facts of one instance are named."""

INSTANCES_MAX = 3
"""So many instances at most are named."""

VALUES_MAX = 4
"""So many values at most say why no instance of a quantifier holds."""


DECIDING = {
    ("none", False): True, ("every", False): False, ("some", True): True, ("at_most_one", False): True,
}  # fmt: skip
"""Which instances decide that a quantifier has a value: those that hold, or those that do not."""


class Broken(Struct, frozen=True):
    """An instance that breaks a property (`Replica 2`, `m = 1`, or nothing where the property has no instances) with
    the facts that make it so. `nodes`: those that it is about, `facts` included."""

    instance: str
    facts: tuple[str, ...]
    nodes: tuple[str, ...]


def broken_parts(reader: ViewReader) -> list[Broken]:
    """What makes the property false in the last state, and in all that repeat for ever; nothing of one that is not
    violated, or whose goal is true at times."""
    prop = reader.property
    if prop is None or prop["kind"] == "reachable":
        return []
    goal = prop["tree"]["goal"]
    first = reader.last if reader.loop is None else reader.loop
    states = [_Facts(reader, prop["truth"], number) for number in range(first, reader.last + 1)]
    if goal is None or any(facts.truth(goal) is not False for facts in states):
        return []
    found = []
    for instance, said in _lasting([facts.reasons(goal) for facts in states]):
        kept = tuple(dict.fromkeys(said))[:FACTS_MAX]
        found.append(Broken(instance, kept, reader.mentions(" ".join((instance, *kept)))))
    if len(found) == 2 and found[1].instance and found[1].instance in found[0].nodes and found[0].instance:
        found = found[:1]  # two instances of one symmetric condition
    return found[:INSTANCES_MAX]


def turning_points(reader: ViewReader) -> tuple[int, ...]:
    """The steps at which parts of the property that make it false in the last state came to be as they are there."""
    prop = reader.property
    if prop is None or not reader.last or not broken_parts(reader):
        return ()
    facts = _Facts(reader, prop["truth"], reader.last)
    found = set()
    for part in facts.decisive(prop["tree"]["goal"], False):
        letters = prop["truth"][part["id"]]
        last = reader.last
        while last > 0 and letters[last - 1] == letters[reader.last]:
            last -= 1
        found.add(last)
    return tuple(sorted(found - {0}))


def _lasting(reasons: Sequence[list[tuple[str, list[str]]]]) -> list[tuple[str, list[str]]]:
    """Instances with the facts that are the same in every state."""
    found = reasons[-1]
    for others in map(dict, reasons[:-1]):
        found = [(name, [one for one in facts if one in others[name]]) for name, facts in found if name in others]
    return found


class _Facts:
    """Facts about the parts of a property in one state."""

    def __init__(self, reader: ViewReader, truth: list[str], number: int) -> None:
        self.reader, self.letters, self.number = reader, truth, number

    def truth(self, part: Json) -> bool | None:
        letters = self.letters[part["id"]]
        letter = letters[self.number] if self.number < len(letters) else "-"
        return {"1": True, "0": False}.get(letter)

    # ---- instances ----

    def reasons(self, part: Json) -> list[tuple[str, list[str]]]:
        """Why a part is false: instances with their facts."""
        match part["op"]:
            case "none":
                return self._of(part, [one for one in part["instances"] if self.truth(one)], True)
            case "every":
                return self._of(part, [one for one in part["instances"] if self.truth(one) is False], False)
            case "at_most_one" | "exactly_one":
                holding = [one for one in part["instances"] if self.truth(one)]
                if not holding:
                    return [("", [f"{part['text']}: none does"])]
                names = " and ".join(one["instance"] for one in holding)
                return [(names, self._own(part, holding[0], self.facts(holding[0], True)))]
            case "and":
                wrong = [child for child in part["children"] if self.truth(child) is False]
                return [found for child in wrong for found in self.reasons(child)]
            case "implies":
                premise, then = part["children"]
                inner = self.reasons(then)
                if inner and inner[0][0]:
                    return [(name, [*facts, *self.facts(premise, True)]) for name, facts in inner]
                return [("", self.facts(part, False))]
            case "not" if part["children"][0]["op"] == "some":
                inner = part["children"][0]
                return self._of(inner, [one for one in inner["instances"] if self.truth(one)], True)
            case _:
                return [("", self.facts(part, False))]

    def _of(self, part: Json, instances: list[Json], value: bool) -> list[tuple[str, list[str]]]:
        return [(self._called(part, one), self._own(part, one, self.facts(one, value))) for one in instances]

    def _called(self, part: Json, instance: Json) -> str:
        """An instance, with its variable where it is no node."""
        name = str(instance["instance"])
        return name if self.reader.mentions(name) else f"{part['variable']} = {name}"

    def _own(self, part: Json, instance: Json, facts: list[str]) -> list[str]:
        """The facts of an instance, which is named in front of them."""
        variable, name = re.escape(part["variable"]), instance["instance"]
        said = [re.sub(rf"(?<![\w.]){variable}\.", "", fact) for fact in facts]
        said = [_named(fact, variable, name) for fact in said]
        return [
            fact for fact in said if not re.fullmatch(r"\w+(?: \d+)? != \w+(?: \d+)?|\w+ \d+ == \w+ \d+ is false", fact)
        ]

    def _other(self, part: Json, instance: Json, facts: list[str]) -> list[str]:
        """The facts of an instance of an inner quantifier."""
        variable, name = re.escape(part["variable"]), instance["instance"]
        said = [re.sub(rf"(?<![\w.]){variable}\.", f"{name}'s ", fact) for fact in facts]
        return [_named(fact, variable, name) for fact in said]

    # ---- parts ----

    def decisive(self, part: Json, value: bool) -> Iterator[Json]:
        """The smallest parts whose values make a part have a value."""
        op = part["op"]
        if op in ("and", "or"):
            each = part["children"]
            some = each if value == (op == "and") else [one for one in each if self.truth(one) is value]
            yield from (found for one in some for found in self.decisive(one, value))
        elif op == "implies" and not value:
            yield from self.decisive(part["children"][0], True)
            yield from self.decisive(part["children"][1], False)
        elif op == "not":
            yield from self.decisive(part["children"][0], not value)
        elif (wanted := DECIDING.get((op, value))) is not None and part.get("instances"):
            some = [one for one in part["instances"] if self.truth(one) is wanted]
            yield from (found for one in some for found in self.decisive(one, wanted))
        else:
            yield part

    # ---- facts ----

    def facts(self, part: Json, value: bool) -> list[str]:
        """Why a part has a value, as short sentences."""
        op = part["op"]
        if op in ("and", "or") and value == (op == "and"):
            return [fact for child in part["children"] for fact in self.facts(child, value)]
        if op in ("and", "or"):
            return [
                fact for child in part["children"] if self.truth(child) is value for fact in self.facts(child, value)
            ][:FACTS_MAX]
        if op == "implies" and not value:
            return [*self.facts(part["children"][0], True), *self.facts(part["children"][1], False)]
        if op == "not":
            return self.facts(part["children"][0], not value)
        if op in ("none", "every", "some") and part.get("instances"):
            return self._quantified(part, value)
        return [self._leaf(part, value)]

    def _quantified(self, part: Json, value: bool) -> list[str]:
        wanted = {"none": True, "every": False, "some": True}[part["op"]]
        if value == (part["op"] == "some"):  # there are instances that make it so
            hit = [one for one in part["instances"] if self.truth(one) is wanted]
            return [fact for one in hit[:2] for fact in self._other(part, one, self.facts(one, wanted))]
        said = _said(part["text"], value)
        values = list(dict.fromkeys(fact for one in part["instances"] for fact in self._values(part, one)))
        return [f"{said} ({', '.join(values)})" if 0 < len(values) <= VALUES_MAX else said]

    def _values(self, part: Json, instance: Json) -> list[str]:
        """The fields of an instance of a quantifier that it compares: `Server 1's queue is []`."""
        leaves, found = [instance], list[str]()
        for leaf in leaves:
            leaves += leaf.get("children", ())
            found += [
                f"{one['text']} is {self.reader.strings[one['values'][self.number]]}"
                for one in leaf.get("operands", ())
                if re.fullmatch(rf"{re.escape(part['variable'])}\.\w+", one["text"])
            ]
        return [_possessive(one) for one in self._other(part, instance, found)]

    def _leaf(self, part: Json, value: bool) -> str:
        """One comparison, with what it compares."""
        text = re.sub(r"\{m for m: (\w+) where [^{}]*\}", r"its followers", part["text"])
        text = re.sub(r"\{(\w+) for \1: (\w+) where ([^{}]*)\}", r"{\2s where \3}", text)
        negated = text.startswith("not ")
        text, value = (text.removeprefix("not "), not value) if negated else (text, value)
        operands = []
        for operand in part.get("operands", ()):
            words = self.reader.strings[operand["values"][self.number]]
            short = re.sub(r"\{m for m: (\w+) where [^{}]*\}", "its followers", operand["text"])
            operands.append((short, words))
        return _sentence(text, value, operands)


def _named(fact: str, variable: str, name: str) -> str:
    """A fact with the node that a variable stands for; said once where its value is said too."""
    return re.sub(rf"(?<![\w.']){variable}(?: {re.escape(name)})?(?![\w:])", name, fact)


def _possessive(words: str) -> str:
    """`(Client 1).phase` as `Client 1's phase`."""
    return re.sub(r"\((\w+ \d+)\)\.", r"\1's ", words)


NAME = r"(\w+ \d+'s )?[\w.]+(\([^()]*\)|\[[^\[\]]*\])?"
"""A variable or a definition that is true or not: `disorder`, `kept(1)`."""

COMPARED = {"<=": "at most", "<": "less than", "==": "equal to", "!=": "different from"}


def _sentence(text: str, value: bool, operands: list[tuple[str, str]]) -> str:
    text, operands = _possessive(text), [(_possessive(what), words) for what, words in operands]
    known = [(what, words) for what, words in operands if what != text]
    if (matched := re.fullmatch(r"majority\((.+)\)", text)) and len(known) == 1:
        return f"{known[0][0]} {known[0][1]} are {'' if value else 'not '}a majority"
    if (matched := re.fullmatch(r"(.+?) subset (.+)", text)) and len(known) == 2:
        return f"{known[0][0]} {known[0][1]} is {'' if value else 'not '}within {known[1][0]} {known[1][1]}"
    if (matched := re.fullmatch(r"(.+?) (<=|<|==|!=) (.+)", text)) is not None:
        left, operator, right = matched.groups()
        if len(known) == 1:
            what, words = known[0]
            other = right if what == left else left
            if operator == "==" and value and what == left:
                return f"{what} is {words}"
            if operator == "!=" and not value and what == left:
                return f"{what} is {words}"
            if what == left and (operator, value) in (("!=", True), ("==", False)):
                return f"{what} is {words}, not {other}"
            if what == left and operator in ("<=", "<"):
                return f"{what} is {words}, {'' if value else 'not '}{COMPARED[operator]} {other}"
        if len(known) == 2:
            no = "" if value else "not "
            return f"{left} {known[0][1]} is {no}{COMPARED[operator]} {right} {known[1][1]}"
    values = ", ".join(f"{what} is {words}" for what, words in known)
    return _said(text, value) + (f" ({values})" if values else "")


def _said(text: str, value: bool) -> str:
    """That something is true or not: a comparison that is true speaks for itself, a name does not."""
    if (matched := re.fullmatch(r"up\((.+)\)", text)) is not None:
        return f"{matched[1]} is {'up' if value else 'down'}"
    if value and not re.fullmatch(NAME, text):
        return text
    return f"{text} is {'true' if value else 'false'}"
