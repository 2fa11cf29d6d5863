"""From text to tokens: one regular expression, and a word of the language where the grammar takes it, else a name.

lark's own contextual lexer compiles an expression for each set of tokens that may follow, which takes longer than
reading most specs; and it ends a word where a shorter one is known, so that `holds` would be `hold` and `s`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from lark import UnexpectedCharacters
from lark.lexer import Lexer, LexerState, TerminalDef

from hacheck.model.language.parse_tree import Token

NAME, NUMBER, TEXT, END = "NAME", "NUMBER", "TEXT", "$END"
"""The tokens that are not written out in the grammar, and the end of the text."""


class SpecLexer(Lexer):
    """Reads the tokens of a spec; `spelled`: the words and signs that the grammar writes out, each with its kind."""

    __future_interface__ = 2  # the parser's state is handed over

    def __init__(self, conf: Any) -> None:
        terminals: Collection[TerminalDef] = conf.terminals
        written = {one.pattern.value: one.name for one in terminals if one.pattern.type == "str"}
        self.words = {text: kind for text, kind in written.items() if text.isidentifier()}
        self.signs = {text: kind for text, kind in written.items() if not text.isidentifier()}
        self.phrases = dict(_phrase(one) for one in terminals if one.pattern.type == "re" and one.priority > 0)
        self.pattern = _pattern(self.signs)

    @property
    def spelled(self) -> Mapping[str, str]:
        return self.words | self.signs

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        """The tokens, each as the parser's state at that place sees it."""
        text, states = str(lexer_state.text.text), parser_state.parse_conf.states
        position, line, counted = 0, 1, 0
        while True:
            found = self.pattern.match(text, position)
            assert found is not None, "blanks can always be read"
            if found.lastindex is None:
                if found.end() == len(text):
                    return
                raise UnexpectedCharacters(text, found.end(), line, 0, state=parser_state)
            kind, start, position = self._token(text, found, states[parser_state.position])
            line += text.count("\n", counted, start)
            counted = start
            token = Token(kind, text[start:position], start, line, end_pos=position)
            lexer_state.last_token = token
            yield token

    def _token(self, text: str, found: re.Match[str], moves: Mapping[str, object]) -> tuple[str, int, int]:
        """The kind, start and end of a token: of one that may stand here, where that is open. `moves`: what may."""
        group = found.lastindex
        assert group is not None
        start, end = found.span(group)
        if group == 1:
            word = found.group(1)
            kind = self.words.get(word, NAME)
            phrase = self.phrases.get(word)
            if phrase is not None and (phrase[0] in moves or kind not in moves):
                whole = phrase[1].match(text, start)
                if whole is not None:
                    kind, end = phrase[0], whole.end()
            return (NAME, start, start + len(word)) if kind not in moves and NAME in moves else (kind, start, end)
        if group == 4:
            sign = found.group(4)
            kind = self.signs[sign]
            shorter = self.signs.get(sign[0], kind)
            return (shorter, start, start + 1) if kind not in moves and shorter in moves else (kind, start, end)
        return (NUMBER if group == 2 else TEXT), start, end


def _phrase(terminal: TerminalDef) -> tuple[str, tuple[str, re.Pattern[str]]]:
    """A token that several words make, by the first of them."""
    first = re.match(r"[a-z]+", terminal.pattern.value)
    assert first is not None, f"{terminal.name} begins with a word"
    return first.group(), (terminal.name, re.compile(terminal.pattern.value))


def _pattern(signs: Iterable[str]) -> re.Pattern[str]:
    """Blanks and comments, then a word, a number, a text, a sign (the longest that fits), or nothing of these."""
    longest_first = sorted(signs, key=len, reverse=True)
    written = "|".join(re.escape(sign) for sign in longest_first)
    tokens = rf'([A-Za-z_][A-Za-z0-9_]*)|([0-9][0-9_]*)|("[^"\n]*")|({written})'
    return re.compile(rf"(?:[ \t\r\n\f]+|#[^\n]*)*(?:{tokens}|)")
