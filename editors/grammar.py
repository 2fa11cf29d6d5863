"""Makes the TextMate grammar of specs from the words of the language: `python editors/grammar.py`.

Other editors that read TextMate grammars can use the file as it is.
"""

from __future__ import annotations

import json
from pathlib import Path

from hacheck.model.language.parser import phrases, spelled

PLACE = Path(__file__).parent / "vscode" / "syntaxes" / "hacheck.tmLanguage.json"

DECLARE = [
    "system",
    "library",
    "use",
    "param",
    "switch",
    "assumption",
    "type",
    "record",
    "ordered",
    "identity",
    "node",
    "shared",
    "ghost",
    "message",
    "operation",
    "lock",
    "clock",
    "define",
    "procedure",
    "action",
    "environment",
    "on",
    "serve",
    "initially",
    "faults",
    "invariant",
    "lemma",
    "step_invariant",
    "reachable",
    "deadlock_free",
    "eventually",
    "leads_to",
    "observe",
    "trace",
    "check",
    "view",
    "state",
    "durable",
    "synced",
    "initially",
]
CONTROL = [
    "if",
    "then",
    "else",
    "for",
    "while",
    "choose",
    "let",
    "var",
    "require",
    "finish",
    "halt",
    "step",
    "do",
    "send",
    "call",
    "answer",
    "acquire",
    "release",
    "sync",
    "log",
]
CONSTANT = ["true", "false", "none", "on", "off"]
TYPES = ["bool", "counter", "set", "map", "sequence", "bag"]
FAULTS = ["crash", "wipe", "blackout", "pause", "cut", "isolate", "partition", "bridge", "lose", "duplicate"]


def grammar() -> dict[str, object]:
    """The grammar, in which each word of the language has one scope."""
    words = {word for word in spelled() if word.isidentifier()}
    named = {
        "keyword.control.hacheck": set(CONTROL),
        "constant.language.hacheck": set(CONSTANT),
        "support.type.hacheck": set(TYPES),
        "keyword.other.fault.hacheck": set(FAULTS),
        "storage.type.hacheck": set(DECLARE),
    }
    taken: set[str] = set()
    joined = [phrase.replace(" ", r"\s+") for phrase in sorted(phrases())]
    patterns: list[dict[str, object]] = [
        {"name": "comment.line.number-sign.hacheck", "match": "#.*$"},
        {"name": "string.quoted.double.hacheck", "begin": '"', "end": '"|$'},
        {"name": "constant.numeric.hacheck", "match": r"\b[0-9]+\b"},
        {
            "match": r"\b(action|procedure|define|invariant|lemma|step_invariant|reachable|eventually|leads_to|check)"
            r"\s+([A-Za-z_][A-Za-z_0-9]*)",
            "captures": {"1": {"name": "storage.type.hacheck"}, "2": {"name": "entity.name.function.hacheck"}},
        },
    ]
    patterns.append({"name": "keyword.other.phrase.hacheck", "match": rf"\b({'|'.join(joined)})\b"})
    for scope, chosen in named.items():
        mine = sorted((chosen & words) - taken)
        taken |= set(mine)
        patterns.append({"name": scope, "match": rf"\b({'|'.join(mine)})\b"})
    rest = sorted(words - taken)
    patterns.append({"name": "keyword.operator.word.hacheck", "match": rf"\b({'|'.join(rest)})\b"})
    patterns.append({"name": "keyword.operator.hacheck", "match": r":=|==|!=|<=|>=|~>|->|\.\.|[<>+*=-]"})
    return {"name": "hacheck", "scopeName": "source.hacheck", "fileTypes": ["ha"], "patterns": patterns}


def text() -> str:
    """The grammar as the file has it."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
