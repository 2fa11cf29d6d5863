"""Under which other settings a trace that deviates would conform: each switch and assumption turned, each kind of fault
that the check rules out allowed, a larger skew, the log of a node missing, and pairs of them, as far as the time goes.

Where a system does something that the protocol forbids, there is often a switch for just that. One switch that explains
a whole log says more than the line at which the log leaves the protocol.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.api.comparison import writers_of
from hacheck.compile.kept_models import kept_instance
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.observing.line_writers import logged, without_logs_of
from hacheck.model.observing.step_monitors import with_step_monitors
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import NODE, TRACE_ID

if TYPE_CHECKING:
    from hacheck.api.comparison import Compared
    from hacheck.model.language.specification import Parameter, Specification
    from hacheck.traces.conformance.trace_checker import TraceChecker
    from hacheck.traces.dataset import Located

SKEWS_MS = (100, 1_000, 10_000)
"""The larger skews that are tried, in milliseconds."""


class Change(Struct, frozen=True):
    """Other settings, another skew where that is part of it, and nodes whose logs are missing, by kind and number."""

    settings: tuple[tuple[str, str], ...]
    skew_ms: int | None = None
    about: str = ""
    unlogged: tuple[tuple[str, int], ...] = ()

    @property
    def words(self) -> str:
        """As options of the command line, and what there is no option for."""
        said = [f"--set {name}={value}" for name, value in self.settings]
        said += [] if self.skew_ms is None else [f"--skew {self.skew_ms}"]
        said += [f"a log of {kind}-{number} that is missing" for kind, number in self.unlogged]
        return " ".join(said)


class Explained(Struct):
    """What was tried for a trace. `explaining`: the changes under which it conforms, the smallest first; `farthest`:
    else the one that explains most records, and how many more; `tried`: how many changes; `complete`: all single ones
    were."""

    trace_id: str
    explaining: list[Change] = field(default_factory=list)
    farthest: tuple[Change, int] | None = None
    tried: int = 0
    complete: bool = False


def explained(
    compared: Compared,
    base: TraceChecker,
    dataset: Located,
    verdict: Verdict,
    wall_seconds: float,
    proceeding: Callable[[str], bool] = lambda what: True,
) -> Explained:
    """Looks for changes under which a trace conforms. `base`: what checked it; `proceeding`: gets what is tried, and
    returns whether to go on. Cost: each change is a system of its own, which is compiled."""
    deadline = time.monotonic() + wall_seconds
    batches = list(_records_of(dataset, verdict.trace_id))
    found = Explained(verdict.trace_id)
    reached: list[tuple[int, Change]] = []
    start = verdict.seq or 0

    def tried(change: Change) -> bool:
        if time.monotonic() > deadline or not proceeding(change.words):
            return False
        outcome = _under(compared, base, verdict, change, batches)
        found.tried += 1
        if (
            outcome is None or outcome.compared < verdict.compared
        ):  # a line that no step writes any more is not explained
            return True
        if outcome.kind == "conforms" and not any(one.sure for one in outcome.late):
            found.explaining.append(change)
        elif outcome.kind == "deviates" and (outcome.seq or 0) > start:
            reached.append((outcome.seq or 0, change))
        return True

    singles = [
        *absent_nodes(compared, verdict, batches),
        *single_changes(compared, base.skew_ns // 1_000_000),
        *more_nodes(compared),
    ]
    found.complete = all(tried(change) for change in singles)
    if found.complete and not found.explaining:
        best = [change for _, change in sorted(reached, key=lambda one: -one[0])]
        pairs = [*itertools.product(best, singles), *itertools.combinations(singles, 2)]
        for pair in dict.fromkeys(both for left, right in pairs if (both := _together(left, right)) is not None):
            if not tried(pair) or found.explaining:
                break
    if reached and not found.explaining:
        seq, change = max(reached, key=lambda one: one[0])
        found.farthest = change, seq - start
    return found


def single_changes(compared: Compared, skew_ms: int) -> Iterator[Change]:
    """One thing that is otherwise. Those come first that most checks of the spec set so."""
    now = dict(compared.system.settings)
    fixed = {*compared.given, *(one.setting for one in compared.derived)}
    wished = Counter(pair for one in compared.specification.checks for pair in one.settings)
    changes = []
    for parameter in compared.specification.parameters:
        value = _other(parameter, now.get(parameter.name, parameter.default))
        if value is not None and parameter.name not in fixed:
            changes.append(Change(((parameter.name, value),), about=parameter.description))
    yield from sorted(changes, key=lambda one: -wished[one.settings[0]])
    yield from (Change((), skew) for skew in SKEWS_MS if skew > skew_ms)


def absent_nodes(compared: Compared, verdict: Verdict, batches: list[Any]) -> Iterator[Change]:
    """Each node that writes lines and of which the trace has none: its log may be missing."""
    chosen = dict(text.partition("=")[::2] for text in verdict.settings)
    made = kept_instance(compared.specification, {**chosen, **compared.given}, compared.check, logs=True).system
    writers = writers_of(logged(compared.system if made is None else made, compared.every_step, compared.hidden))
    if len({kind for kind, _ in writers}) != 1:
        return
    called = dict(compared.called)
    names = {name for batch in batches for name in batch.column(NODE).to_pylist() if name is not None}
    numbers = {_number(called.get(name, name)) for name in names}
    for kind, number in sorted(writers):
        if None not in numbers and number not in numbers:
            yield Change((), about="it wrote lines that are not here", unlogged=((kind, number),))


def more_nodes(compared: Compared) -> Iterator[Change]:
    """A node more of each kind whose number a param gives, without a log of its own."""
    now = dict(compared.system.settings)
    fixed = {*compared.given, *(one.setting for one in compared.derived)}
    for one in compared.specification.declarations:
        if isinstance(one, d.NodeDeclaration) and isinstance(one.size, t.Name) and one.size.text not in fixed:
            value = now.get(one.size.text, "")
            if value.isdecimal():
                more = int(value) + 1
                about = f"one {one.name.text} more than the check has, without a log"
                yield Change(((one.size.text, str(more)),), about=about, unlogged=((one.name.text, more),))


def _number(node: str) -> int | None:
    digits = node[len(node.rstrip("0123456789")) :]
    return int(digits) if digits else None


def _together(left: Change, right: Change) -> Change | None:
    """Both changes; `None` where they are about the same thing. Which is the left one makes no difference."""
    settings = dict(sorted((*left.settings, *right.settings)))
    skews = [one.skew_ms for one in (left, right) if one.skew_ms is not None]
    if len(settings) < len(left.settings) + len(right.settings) or len(skews) > 1:
        return None
    unlogged = tuple(sorted({*left.unlogged, *right.unlogged}))
    return Change(tuple(settings.items()), max(skews, default=None), unlogged=unlogged)


def _other(parameter: Parameter, value: str) -> str | None:
    """The other value of a switch or an assumption; 1 for a kind of fault that is ruled out by 0."""
    if parameter.kind in ("switch", "assumption"):
        return "off" if value == "on" else "on"
    return "1" if value == "0" else None


class OtherChoice(Struct, frozen=True):
    """What would be reported of a trace if the spec did not choose a setting for logs: `name=value` of the check."""

    setting: str
    verdict: Verdict


def under_own_settings(
    compared: Compared,
    base: TraceChecker,
    dataset: Located,
    verdict: Verdict,
    proceeding: Callable[[str], bool] = lambda what: True,
) -> Iterator[OtherChoice]:
    """The verdicts on a trace under the settings of the check, one by one, that the spec chooses otherwise for logs.
    `proceeding`: gets what is tried, and returns whether to go on. Cost: each is a system of its own, and compiled."""
    batches = list(_records_of(dataset, verdict.trace_id))
    for name in chosen_for_logs(compared.specification, compared.check):
        if name in compared.given or any(one.setting == name for one in compared.derived):
            continue
        change = Change(((name, own_settings(compared.specification, compared.check)[name]),))
        if not proceeding(change.words):
            return
        found = _under(compared, base, verdict, change, batches, compared.checked)
        if found is not None:
            yield OtherChoice("=".join(change.settings[0]), found)


def _under(
    compared: Compared,
    base: TraceChecker,
    verdict: Verdict,
    change: Change,
    batches: list[Any],
    checked: tuple[str, ...] = (),
) -> Verdict | None:
    """The verdict under other settings; `None` where they make no system."""
    skew = base.skew_ns if change.skew_ms is None else change.skew_ms * 1_000_000
    given = {**compared.given, **dict(change.settings)}
    own = replace(base, skew_ns=skew, explained_max=0, checked=checked, _diagnosers=[], _trace_followers=[])
    if verdict.settings:  # then the system is made when they are known
        derived = tuple(one for one in compared.derived if one.setting not in given)
        rest = (compared.check, given, derived, compared.every_step, compared.hidden, frozenset(change.unlogged))
        verdicts = CheckerBySettings(own, compared.specification, *rest).check(batches)
    else:
        instance = compared.specification.instantiate(given, compared.check, logs=True)
        if instance.system is None:
            return None
        system = without_logs_of(logged(instance.system, compared.every_step, compared.hidden), change.unlogged)
        system = with_step_monitors(system, checked)
        verdicts = replace(own, system=system).check(batches)
    return next((one for batch in verdicts for one in from_batch(batch)), None)


def _records_of(dataset: Located, trace_id: str) -> Iterator[Any]:
    import pyarrow.compute as pc

    for batch in checked_batches(dataset, Findings()):
        mine = batch.filter(pc.equal(batch.column(TRACE_ID), trace_id))
        if mine.num_rows:
            yield mine


def chosen_for_logs(specification: Specification, check: str) -> Mapping[str, str]:
    """The switches that the `trace` block of a spec sets otherwise than the check does, with their values."""
    trace = specification.trace
    if trace is None:
        return {}
    own = own_settings(specification, check)
    return {name: value for name, value in trace.settings if name in own and own[name] != value}


def own_settings(specification: Specification, check: str) -> Mapping[str, str]:
    """The switches of a spec, as a check sets them."""
    own = {one.name: one.default for one in specification.parameters if one.kind == "switch"}
    named = next((one for one in specification.checks if one.name == check), None)
    return own | {name: value for name, value in (named.settings if named is not None else ()) if name in own}
