"""Words that the project does not use, and where they are left: `python -m tests.repository.vocabulary --word told`.

`docs/glossary.md` has the term of each concept. What stands here was once said in place of one, with a meaning that a
reader had to guess. `--update` writes the counts of today to `vocabulary_left.toml`; they may only fall.
"""

from __future__ import annotations

import argparse
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[2]
LEFT = Path(__file__).with_name("vocabulary_left.toml")

WORDS = frozenset(
    {
        *(
            "alike",
            "attended",
            "attendant",
            "crew",
            "farewell",
            "hire",
            "hired",
            "lively",
            "misfit",
            "misfits",
            "mourn",
        ),
        *("judge", "judged", "judgement", "judges", "judging", "mourn", "pulse", "settling", "sift", "whoever"),
        *("tell", "telling", "tells", "told", "weave", "weaving", "woven"),
    }
)
PHRASES = ("goes round", "stays as it is", "way back", "what is asked")
ELSEWHERE = re.compile(r"\.tell\(\)|lock[-_]told|\"told\"|stamps_tell_databases_apa|tell_others|--judge\b")
"""What is written like one of them and means something else: the place in an open file; and names that others build on:
the fault `lock-told`, the event and the key `told`, a property of IceStorm, a step of Artemis, an older option."""

IN_CODE = frozenset({"asked", "asking", "unasked"})
"""In the package, sentences and names alike: what is checked, wanted, selected, requested or under way."""
IN_CODE_ELSEWHERE = re.compile(
    r"[\"']asked[\"']|[\"']asking[\"']|asked_by=|\"not asking\"|asking who has|has asked often"
)
"""The event and the key `asked` of logs, and the states of a server that looks for a backup, in its log."""

IN_NAMES = frozenset({"gap", "gaps", "settled", "way", "ways"})
"""What a name says too little with: a path, a branch, an alternative, a counterexample to induction, a watermark."""
NAMES_MEANT = re.compile(
    r"one way|under way|on the way|half way|both ways|same way|(?:gave|give|gives) way"  # as everybody says it
    r"|(?:node|label|row|with) gaps?|gap (?:us|max)"  # room between two things: in a drawing, in a log, in time
)
NAMES_OF_PLACES = {
    "hacheck/api/verify_document.py": "`gap` is a key of the document of `verify`",
    "hacheck/documents/verify.py": "the same",
    "hacheck/cli/pictures/run_svg.py": "room between two lanes",
    "hacheck/impl/protocols/artemis/client_library/oracle.py": "`settled` is an event of its log",
    "hacheck/impl/protocols/artemis/colocated/options.py": "`way` is a setting",
    "hacheck/impl/protocols/artemis/colocated/system.py": "the same",
    "hacheck/impl/protocols/qpid/broker.py": "AMQP: a delivery is settled",
    "hacheck/impl/protocols/qpid/store.py": "the same",
    "hacheck/impl/simulator/run_story.py": "a time in which nothing happens",
    "hacheck/model/language/format.py": "empty lines between two declarations",
    "hacheck/spark/check_lines.py": "numbers that are missing in a log",
    "hacheck/traces/conformance/broken_durations.py": "a time between two records",
    "hacheck/traces/conformance/total_order.py": "words between the records of two traces",
    "hacheck/traces/simulation/times.py": "a time between two records",
}

_MAY_SAY_TOO_LITTLE = re.compile(r"(?<![a-z])(?:gaps?|settled|ways?)(?![a-z])|Gap|Settled|Way|GAP|SETTLED|WAY")
"""In what has none of these no name is found: to look costs less than to read a module token by token."""

_WORD = re.compile(r"[A-Za-z]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def sources() -> Iterator[Path]:
    """What a reader reads: the package, the front page, the pages written by hand, and the changes."""
    yield from sorted((ROOT / "hacheck").rglob("*.py"))
    yield from sorted((ROOT / "hacheck").rglob("*.toml"))  # adapters of logs, readers of configuration files
    yield from (ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"))
    yield from (path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in ("bounds.md", "sources.md"))


def part_of(path: Path) -> str:
    """The part of the project that counts for itself: a package, or the pages."""
    parts = path.relative_to(ROOT).parts
    return parts[1].removesuffix(".py") if parts[0] == "hacheck" else "pages"


def found_in(text: str) -> Iterator[tuple[int, str]]:
    """Each word that is not used, with its line; names are read word by word."""
    for number, line in enumerate(text.splitlines(), 1):
        plain = _HUMP.sub(" ", ELSEWHERE.sub("", line))
        for word in _WORD.findall(plain):
            if word.lower() in WORDS:
                yield number, word.lower()
        for phrase in PHRASES:
            for _ in range(line.lower().count(phrase)):
                yield number, phrase


def names_in(path: Path) -> Iterator[tuple[int, str]]:
    """Each name of a module that says too little, with its line."""
    if path.relative_to(ROOT).as_posix() not in NAMES_OF_PLACES:
        text = path.read_text(encoding="utf-8")
        if _MAY_SAY_TOO_LITTLE.search(text):
            yield from too_little(io.StringIO(text))


def too_little(lines: TextIO) -> Iterator[tuple[int, str]]:
    """The same, of text."""
    for token in tokenize.generate_tokens(lines.readline):
        if token.type == tokenize.NAME:
            words = " ".join(_WORD.findall(_HUMP.sub(" ", token.string))).lower()
            if IN_NAMES.intersection(NAMES_MEANT.sub("", words).split()):
                yield token.start[0], token.string


def code_words_in(text: str) -> Iterator[tuple[int, str]]:
    """Each word that the package does not use, with its line."""
    if not any(word in text.lower() for word in IN_CODE):
        return
    for number, line in enumerate(text.splitlines(), 1):
        for word in _WORD.findall(_HUMP.sub(" ", IN_CODE_ELSEWHERE.sub("", line))):
            if word.lower() in IN_CODE:
                yield number, word.lower()


def counts() -> dict[str, Counter[str]]:
    """How often each of them stands in each part."""
    found: dict[str, Counter[str]] = {}
    for path in sources():
        words = Counter(word for _, word in found_in(path.read_text(encoding="utf-8")))
        if words:
            found.setdefault(part_of(path), Counter()).update(words)
    return found


def left() -> dict[str, Counter[str]]:
    """The same as it was when it was last written down."""
    return {part: Counter(words) for part, words in tomllib.loads(LEFT.read_text(encoding="utf-8")).items()}


def written(found: dict[str, Counter[str]]) -> str:
    """Counts as TOML."""
    lines = ["# Written by `python -m tests.repository.vocabulary --update`; see there.\n"]
    for part in sorted(found):
        lines.append(f"\n[{part}]\n")
        lines += [f'"{word}" = {count}\n' for word, count in sorted(found[part].items())]
    return "".join(lines)


def main() -> None:
    """The command."""
    options = argparse.ArgumentParser(prog="python -m tests.repository.vocabulary", description=__doc__)
    options.add_argument("--part", help="a package, or `pages`")
    options.add_argument("--word")
    options.add_argument("--update", action="store_true")
    given = options.parse_args()
    if given.update:
        LEFT.write_text(written(counts()), encoding="utf-8")
        return
    for path in sources():
        if given.part in (None, part_of(path)):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, word in found_in("\n".join(lines)):
                if given.word in (None, word):
                    print(f"{path.relative_to(ROOT)}:{number}: {word}: {lines[number - 1].strip()}")


if __name__ == "__main__":
    main()
