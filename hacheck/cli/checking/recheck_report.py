"""What `hacheck verify --recheck` found, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from hacheck.checker.recheck_result import Rechecked, ShownDifference
from hacheck.checker.verify import CheckResult
from hacheck.cli.console import seconds, symbols
from hacheck.wording import plural

REPORT_IT = "one of the two is wrong, and the verdicts of this check cannot be relied on: please report this"


def differs(results: Sequence[CheckResult]) -> bool:
    """Whether a second interpreter found anything else than the first."""
    return any(result.answer.rechecked is not None and result.answer.rechecked.differences for result in results)


def words(found: Rechecked) -> Text:
    """How much was computed again, and what came of it, in a line."""
    if found.unsupported:
        return Text(f"nothing: the second interpreter does not know what this spec says: {found.unsupported}", "warn")
    many = f"{plural(found.states, 'state')}, {plural(found.steps, 'step')} by a second interpreter"
    part = "everything" if found.everything else f"of {found.of:,} states explored"
    if found.differences:
        return Text(f"{many}: a difference, see below", style="bad")
    return Text(f"{many} ({part}, {seconds(found.seconds)}): no difference")


def difference(console: Console, one: ShownDifference) -> RenderableType:
    """Where the two interpreters differ: how to get there, what is so there, and what each says."""
    lines = [Text.assemble((symbols(console).violated, "bad"), " the two interpreters differ: ", (one.where, "name"))]
    if one.path:
        lines.append(Text(f"  after {' · '.join(one.path)}"))
    lines += [Text(f"    {value}", style="quiet") for value in one.state]
    lines += [Text(f"  explored: {one.first}"), Text(f"  second interpreter: {one.second}"), Text(f"  {REPORT_IT}")]
    return Padding(Group(*lines), (1, 0, 0, 2))
