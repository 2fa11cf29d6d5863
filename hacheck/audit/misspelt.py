"""Entries that the reader does not know, and whose name is nearly that of a setting which the file lacks."""

from __future__ import annotations

from msgspec import Struct

from hacheck.audit.configuration import Configuration, Node, Passed
from hacheck.wording import near_words

LETTERS_MIN = 5
"""Names of fewer letters are like too many others."""

LIKENESS = 0.8
"""So like a setting's name another one has to be: a letter of five, or two of ten, may be wrong. More than messages
want that only ask: here the default is said to count."""


class Misspelt(Struct, frozen=True):
    """Entries of one name, each with the node in whose file it stands, and the setting that was probably meant."""

    places: tuple[tuple[str, Passed], ...]
    setting: str
    written: str
    wanted: str


def misspelt(configuration: Configuration) -> list[Misspelt]:
    """The entries of which one part of the path is nearly that of the path of a setting."""
    found: dict[tuple[str, str, str], list[tuple[str, Passed]]] = {}
    for entry in configuration.passed:
        meant = (
            (node.name, _meant(configuration, node, entry)) for node in configuration.nodes if entry.file == node.file
        )
        if (first := next(((name, one) for name, one in meant if one is not None), None)) is not None:
            found.setdefault(first[1], []).append((first[0], entry))
    return [Misspelt(tuple(places), *meant) for meant, places in found.items()]


def _meant(configuration: Configuration, node: Node, entry: Passed) -> tuple[str, str, str] | None:
    for name, rule in configuration.reader.setting.items():
        if name in node.values and node.values[name].line is None:
            for path in rule.path:
                if (wrong := _wrong_part(entry.path.split("/"), path.split("/"))) is not None:
                    return (name, *wrong)
    return None


def _wrong_part(parts: list[str], of_setting: list[str]) -> tuple[str, str] | None:
    """The one part that is wrong, and as it should be; `None` where more of them are, or none is nearly right."""
    if len(parts) != len(of_setting):
        return None
    plain = [
        (one.lower().replace("_", "-"), other.lower().replace("_", "-"))
        for one, other in zip(parts, of_setting, strict=True)
    ]
    wrong = [place for place, (one, other) in enumerate(plain) if one != other and other != "*"]
    if len(wrong) != 1:
        return None
    written, wanted = plain[wrong[0]]
    comparable = len(wanted) >= LETTERS_MIN and "*" not in wanted
    near = comparable and near_words(written, [wanted], most=1, likeness=LIKENESS)
    return (parts[wrong[0]], of_setting[wrong[0]]) if near else None
