"""What a word of the language, or a term of the glossary, means: from the documents that travel with hacheck."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from hacheck.model.language.parser import phrases, spelled
from hacheck.model.language.rule_table import RULES
from hacheck.model.language.written_forms import DECLARATION_FORMS, STATEMENT_FORMS
from hacheck.shipped import pages

PASSAGES = 3
"""How many passages of the reference are quoted at most."""
FENCED = re.compile(r"```(\w*)[^\n]*\n(.*?)```\n", re.DOTALL)


class Passage(Struct, frozen=True):
    """A paragraph of the reference, and the heading of its section."""

    heading: str
    text: str


class WordReference(Struct, frozen=True):
    """What is known of a word. `form`: how it is written, between `` ` ``; `terms`: what the glossary says, each with
    its term; `passages`: of the reference, those in which it is introduced first; `example`: a spec that has it."""

    word: str
    form: str
    terms: tuple[tuple[str, str], ...]
    passages: tuple[Passage, ...]
    example: str

    def markdown(self) -> str:
        """All of it as Markdown."""
        parts = [f"# {self.word}", *([f"Write `{self.form}`."] if self.form else [])]
        parts += [f"**{term}**: {meaning}" for term, meaning in self.terms]
        for number, passage in enumerate(self.passages):
            if number == 0 or passage.heading != self.passages[number - 1].heading:
                parts.append(f"## {passage.heading}")
            parts.append(passage.text)
        if self.example:
            parts += ["## In a spec", f"```ha\n{self.example}\n```"]
        if self.passages:
            parts.append("More: `hacheck explain language`")
        return "\n\n".join(parts) + "\n"

    def sentence(self) -> str:
        """What it means in a few lines: the glossary's, else the first passage."""
        if self.terms:
            return self.terms[0][1]
        return self.passages[0].text if self.passages else ""


def functions() -> frozenset[str]:
    """The functions that the language has: `majority`, `take`."""
    return frozenset(RULES.functions)


def words_of_the_language() -> frozenset[str]:
    """The words that the grammar writes out, its phrases, and its functions."""
    return frozenset(word for word in spelled() if word.isidentifier()) | phrases() | functions()


@cache
def terms() -> dict[str, tuple[str, str]]:
    """Each term of the glossary in small letters, with the whole entry it stands in and that entry's meaning."""
    found: dict[str, tuple[str, str]] = {}
    for line in pages()["glossary"].read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3 and cells[0] not in ("term", "") and not cells[0].startswith("---"):
            for one in cells[0].split(","):
                found.setdefault(one.strip().strip("`").casefold(), (cells[0], cells[1]))
    return found


def reference(word: str) -> WordReference | None:
    """What is known of a word, of the language or of the glossary; `None` for neither."""
    word = " ".join(word.split())
    known = word in words_of_the_language()
    entries = [
        terms()[one] for one in dict.fromkeys((word.casefold(), word.casefold().replace("_", " "))) if one in terms()
    ]
    if not known and not entries:
        return None
    form = DECLARATION_FORMS.get(word) or STATEMENT_FORMS.get(word, ("", ()))[0]
    passages, example = _of_the_language(word) if known else ((), "")
    return WordReference(word, form, tuple(entries), passages, example)


@cache
def _of_the_language(word: str) -> tuple[tuple[Passage, ...], str]:
    """The passages in which a quoted form begins with the word, else one that quotes it; and a spec that has it."""
    text = pages()["language"].read_text(encoding="utf-8")
    whole = r"(?<!\w)" + r"\s+".join(map(re.escape, word.split())) + (r"(?=[(`])" if word in functions() else r"(?!\w)")
    leading, quoted = re.compile(rf"`{whole}[^`]*`"), re.compile(rf"`[^`]*{whole}[^`]*`")
    first: list[Passage] = []
    others: list[Passage] = []
    for section in re.split(r"^(?=##+ )", FENCED.sub("\n", text), flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        for paragraph in re.split(r"\n\s*\n", body):
            if quoted.search(paragraph):
                into = first if leading.search(paragraph) else others
                into.append(Passage(heading.lstrip("# "), _rows(paragraph.strip(), quoted)))
    specs = (body.strip("\n") for kind, body in FENCED.findall(text) if kind == "ha")
    used = re.compile(rf"(?<!action ){whole.replace('`', '')}")
    example = next((spec for spec in specs if used.search(re.sub(r'"[^"]*"|#.*', "", spec))), "")
    return tuple(first[:PASSAGES] or others[:1]), example


def _rows(paragraph: str, quoted: re.Pattern[str]) -> str:
    """A paragraph; of a table its head, and the rows that quote the word."""
    lines = paragraph.splitlines()
    if not lines[0].startswith("|"):
        return paragraph
    return "\n".join([*lines[:2], *(line for line in lines[2:] if quoted.search(line))])
