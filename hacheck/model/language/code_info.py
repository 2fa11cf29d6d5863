"""What is said about one code."""

from __future__ import annotations

from msgspec import Struct

HEAD = 'system Example "an example"\n'


class CodeInfo(Struct, frozen=True):
    """A code, a headline, what it means and why it is an error, and a spec that has it beside one that has not.

    `example_wrong` is empty where the text itself is the trouble: too long, not plain, or nested too deep.
    """

    code: str
    headline: str
    explanation: str
    example_wrong: str
    example_right: str


def info(code: str, headline: str, explanation: str, wrong: str, right: str) -> CodeInfo:
    """A code whose examples begin with the head of a spec."""
    return CodeInfo(code, headline, explanation, HEAD + wrong.strip("\n") + "\n", HEAD + right.strip("\n") + "\n")
