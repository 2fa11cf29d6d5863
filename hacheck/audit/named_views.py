"""The view of a run in which nodes have the names of the files: `broker-a` instead of `Server 1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from hacheck.audit.exploration import Violation
from hacheck.checker.run_view.views import Views

Json: TypeAlias = Any


def named_view(violation: Violation, names: Mapping[str, str]) -> Json:
    """The view of the run that shows a violation."""
    system, run = violation.check.system, violation.result.answer.run
    assert run is not None, "what is violated has a run"
    return renamed(Views(system, {}).view(run, violation.result.prop).to_json(), names)


def renamed(content: Json, names: Mapping[str, str]) -> Json:
    """Data in which each name of a node is replaced, in keys and texts."""
    if not names:
        return content
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w.])(" + "|".join(re.escape(name) for name in longest) + r")(?![\w])")
    return _renamed(content, pattern, names)


def _renamed(content: Json, pattern: re.Pattern[str], names: Mapping[str, str]) -> Json:
    match content:
        case str():
            return pattern.sub(lambda found: names[found[1]], content)
        case dict():
            return {_renamed(key, pattern, names): _renamed(value, pattern, names) for key, value in content.items()}
        case list() | tuple():
            return [_renamed(value, pattern, names) for value in content]
        case _:
            return content


def story_of(view: Json) -> str:
    """The sentences of a view."""
    return " ".join(one["text"] for one in view["story"])
