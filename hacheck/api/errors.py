"""What a caller gave and cannot be used: what, where, and what to give instead."""

from __future__ import annotations

from collections.abc import Iterable

from hacheck.wording import did_you_mean


class InputError(ValueError):
    """Something that the caller gave cannot be used. `message`: what and why; `hint`: what to give instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}; {hint}")
        self.message = message
        self.hint = hint


def near_names(word: str, known: Iterable[str], otherwise: str) -> str:
    """A hint with the nearest known words, or `otherwise`."""
    return did_you_mean(word, known, likeness=0.5, quote="") or otherwise


def require_known(what: str, words: Iterable[str], known: Iterable[str]) -> None:
    """Errors: `InputError` for the first word that is not among those known."""
    names = list(known)
    for word in words:
        if word not in names:
            listed = ", ".join(names) if names else "none"
            raise InputError(f"unknown {what} `{word}`", near_names(word, names, f"there are: {listed}"))
