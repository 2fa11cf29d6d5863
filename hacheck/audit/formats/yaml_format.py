"""YAML as entries: the nodes that PyYAML composes, with their lines. Items of a list are named by numbers, from 0.

Nothing is constructed, so that a tag makes nothing; of several documents in one file the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hacheck.audit.entries import Entry, Unreadable

if TYPE_CHECKING:
    from yaml import MappingNode, Node
    from yaml.error import MarkedYAMLError

ENTRIES_MAX = 200_000
"""So many entries a file may come to: aliases of aliases of aliases make a small file endless."""

DEPTH_MAX = 200
"""So deep collections may be nested; an alias of what it stands in would be endless."""

NULL, MERGE = "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"


def read_yaml(text: str, file: str) -> tuple[Entry, ...]:
    """The entries of the first document. Errors: `Unreadable`; `ImportError` where the extra is not installed."""
    import yaml

    try:
        document = next(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), None)
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, file) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = "collections are nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise Unreadable(file, None, f"is no YAML: {reason}") from None
    return () if document is None else _Entries(file).of(document)


def _unreadable(error: MarkedYAMLError, file: str) -> Unreadable:
    """What the parser says, at the place that it names."""
    mark = error.problem_mark or error.context_mark
    reason = " ".join(part for part in (error.context, error.problem) if part)
    return Unreadable(file, None if mark is None else mark.line + 1, f"is no YAML: {reason}")


class _Entries:
    """Makes entries of the nodes of a file, and counts them: an alias is written out wherever it stands."""

    def __init__(self, file: str) -> None:
        self.file, self.made = file, 0

    def of(self, node: Node, depth: int = 0) -> tuple[Entry, ...]:
        """What is in a collection; nothing for a scalar."""
        from yaml import MappingNode, SequenceNode

        if depth > DEPTH_MAX:
            raise self._fail(node, f"collections are nested more than {DEPTH_MAX} deep", "write aliases out")
        match node:
            case MappingNode():
                return tuple(self._pairs(node, depth).values())
            case SequenceNode():
                return tuple(self._entry(str(place), inner, inner, depth) for place, inner in enumerate(node.value))
            case _:
                return ()

    def _pairs(self, node: MappingNode, depth: int) -> dict[str, Entry]:
        """The keys of a mapping with their values: its own, before those that `<<` merges into it."""
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key, value in node.value:
            if key.tag == MERGE:
                for one in self._merged(value):
                    merged = {**self._pairs(one, depth + 1), **merged}
                continue
            if not isinstance(key.value, str):
                raise self._fail(key, "a collection as a key", "no product of these has such keys")
            if key.value in own:
                raise self._fail(key, f"the key `{key.value}` stands here twice", "remove one: only one of them counts")
            own[key.value] = self._entry(key.value, key, value, depth)
        return {**own, **{name: entry for name, entry in merged.items() if name not in own}}

    def _merged(self, value: Node) -> Iterator[MappingNode]:
        from yaml import MappingNode, SequenceNode

        for one in value.value if isinstance(value, SequenceNode) else (value,):
            if not isinstance(one, MappingNode):
                raise self._fail(value, "`<<` merges something that is no mapping", "write the keys out")
            yield one

    def _entry(self, name: str, place: Node, value: Node, depth: int) -> Entry:
        self.made += 1
        if self.made > ENTRIES_MAX:
            raise self._fail(place, f"comes to more than {ENTRIES_MAX:,} entries", "write aliases out")
        text = value.value.rstrip("\n") if isinstance(value.value, str) and value.tag != NULL else None
        return Entry(name, text, place.start_mark.line + 1, self.of(value, depth + 1))

    def _fail(self, node: Node, reason: str, hint: str) -> Unreadable:
        return Unreadable(self.file, node.start_mark.line + 1, reason, hint)
