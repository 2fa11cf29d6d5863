"""Specs, damaged by tokens and by trees: subtrees of the grammar's tree exchanged for others of the same rule."""

from __future__ import annotations

import re
import zlib
from functools import cache
from pathlib import Path
from random import Random

from hacheck.checker.explicit.portable.random_walks import simulate
from hacheck.model.interpreter import EvaluationError, replay
from hacheck.model.language import load
from hacheck.model.language.codes import CODES
from hacheck.model.language.format import format_text
from hacheck.model.language.parse_tree import Tree
from hacheck.model.language.parser import Unreadable, read
from tests.fuzz.kinds import Kind
from tests.fuzz.mutation import changed_text
from tests.language.examples import examples

ROOT = Path(__file__).resolve().parents[2]
SMALL = 6_000
"""Specs of no more characters are read in a few milliseconds; those that are larger are drawn rarely."""
RARELY = 2_000


@cache
def seeds() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The specs to begin with: small ones, and others."""
    documents = [*sorted((ROOT / "tests" / "language" / "cases").glob("*.md")), ROOT / "docs" / "language.md"]
    texts = [one.text for document in documents for one in examples(document)]
    for folder in ("tests/golden/specs", "tests/testing", "examples", "spec", "bench"):
        texts += [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.ha"))]
    return tuple(text for text in texts if len(text) <= SMALL), tuple(text for text in texts if len(text) > SMALL)


@cache
def words() -> tuple[str, ...]:
    """Tokens that stand in some small spec, the more often the more often they are drawn."""
    return tuple(word for text in seeds()[0] for word in re.findall(r'"[^"\n]{0,20}"|\w+|[^\w\s]+', text))


def _seed(random: Random) -> str:
    small, large = seeds()
    return random.choice(large if random.randrange(RARELY) == 0 else small)


def by_tokens(random: Random, text: str | None = None, changes_max: int = 4) -> bytes:
    """A spec after changes of its tokens and lines."""
    return changed_text(text or _seed(random), words(), random, changes_max).encode("utf-8", errors="replace")


@cache
def subtrees() -> dict[str, tuple[str, ...]]:
    """By rule of the grammar, the texts of its subtrees in small specs."""
    found: dict[str, dict[str, None]] = {}
    for text in seeds()[0]:
        for rule, start, end in _nodes(text):
            if end - start <= 400:
                found.setdefault(rule, {})[text[start:end]] = None
    return {rule: tuple(texts) for rule, texts in found.items()}


def _nodes(text: str) -> list[tuple[str, int, int]]:
    """The rule, start and end of each subtree of a text; none where it cannot be read."""
    try:
        waiting = [read(text).root]
    except Unreadable:
        return []
    found = []
    while waiting:
        node = waiting.pop()
        start, end, _ = node.place
        if end > start:
            found.append((node.data, start, end))
        waiting.extend(child for child in node.children if isinstance(child, Tree))
    return found


def by_trees(random: Random) -> bytes:
    """A spec after changes of its subtrees."""
    return by_subtrees(random, _seed(random))


def by_subtrees(random: Random, text: str, changes_max: int = 4) -> bytes:
    """A text some of whose subtrees are exchanged for others, mostly of the same rule, repeated, or left out."""
    known = subtrees()
    for _ in range(random.randint(1, changes_max)):
        nodes = _nodes(text)
        if not nodes:
            break
        rule, start, end = random.choice(nodes)
        other = rule if random.random() < 0.85 else random.choice(list(known))
        match random.randrange(8):
            case 0:
                new = ""
            case 1:
                new = f"{text[start:end]} {text[start:end]}"
            case 2:
                new = f"({text[start:end]})"
            case _:
                new = random.choice(known.get(other, ("",)))
        text = text[:start] + new + text[end:]
    return text.encode("utf-8", errors="replace")


def read_spec(content: bytes) -> None:
    """Loads a spec, and if it is one makes the system of each check, formats it, and walks a few steps of some."""
    text = content.decode("utf-8", errors="replace")
    found = load(text, "fuzz.ha", lambda path: None)
    errors = [one for one in found.diagnostics if one.severity == "error"]
    assert (found.specification is None) == bool(errors), "no specification exactly where there is an error"
    for one in found.diagnostics:
        assert one.code in CODES, one.code
        for span in (one.span, *(span for span, _ in one.labels)):
            assert 0 <= span.start <= span.end <= len(text), one
    formatted = format_text(text)
    if found.specification is None:
        return
    assert format_text(formatted) == formatted, "the layout of what is in the layout changes"
    turn = zlib.crc32(content)
    for check in (None, *(one.name for one in found.specification.checks[:2])):
        instance = found.specification.instantiate({}, check)
        assert instance.system is not None, f"sound when loaded, not when made: {instance.diagnostics}"
        if turn % 8 == 0 and len(text) <= SMALL:
            try:
                run = simulate(instance.system, seed=turn, steps=4)
            except EvaluationError:
                continue
            assert run is None or replay(instance.system, run) is None, "a run that does not replay"


KINDS = (
    Kind("spec-tokens", "specs, damaged by tokens and lines", by_tokens, read_spec, ".ha"),
    Kind("spec-trees", "specs, subtrees exchanged", by_trees, read_spec, ".ha"),
)
