"""The grammar for editors has the words of the language, each with one scope."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

from hacheck.model.language.parser import phrases, spelled

EDITORS = Path(__file__).parents[2] / "editors"


def made() -> Any:
    """The module that makes the grammar."""
    found = importlib.util.spec_from_file_location("grammar", EDITORS / "grammar.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_grammar_is_the_one_that_the_command_makes() -> None:
    module = made()
    assert module.PLACE.read_text(encoding="utf-8") == module.text(), "python editors/grammar.py"


def test_every_word_of_the_language_has_a_scope() -> None:
    patterns = json.loads(made().PLACE.read_text(encoding="utf-8"))["patterns"]
    words = {word for word in spelled() if word.isidentifier()} | phrases()
    for word in words:
        assert any(re.fullmatch(one["match"], word) for one in patterns if "name" in one and "match" in one), word


def test_snippets_are_specs_that_can_be_read() -> None:
    from hacheck.model.language.parse import parse

    snippets = json.loads((EDITORS / "vscode" / "snippets" / "hacheck.json").read_text(encoding="utf-8"))
    for name, snippet in snippets.items():
        text = re.sub(r"\$\{\d+:([^}]*(?:\{[^}]*\})?[^}]*)\}", r"\1", "\n".join(snippet["body"]))
        text = re.sub(r"\$\d+", "", text)
        text = text if text.startswith("system") else f"system X\n{text}"
        text += "" if text.rstrip().endswith(("holds", "hold", "true", "}", "condition")) else " halt"
        _, found = parse(text, name)
        assert found == (), (name, text)
