"""An audit: configuration files in, findings out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.api.specification import Spec, load
from hacheck.audit.changes import Change, Search, helping, search_changes
from hacheck.audit.configuration import Configuration, Node, SettingValue, read_configuration
from hacheck.audit.contradictions import Contradiction, contradictions
from hacheck.audit.entries import Unreadable
from hacheck.audit.exploration import Explorer, Violation, until, violations
from hacheck.audit.expressions import names_in
from hacheck.audit.modelling import Modelled, mode_of, modelled, node_names, settings_behind
from hacheck.audit.reader import FindingKind, Mode, Reader, Remedy
from hacheck.audit.source_files import Recognised, chosen_reader, recognised, require_mounted, sources_of
from hacheck.audit.timing import Timed, timed
from hacheck.checker.engine import Limits
from hacheck.checker.verify import CheckResult
from hacheck.model.property_names import declared_name
from hacheck.model.render import show
from hacheck.model.types import values


class AuditRequest(Struct, frozen=True):
    """What is to be audited. `product`: its name, with `@VERSION` if that is known; `reader`: a file of the user's own;
    `faults`: how many of each kind; `settings`: of the spec, which go before all that the files say;
    `allows_unavoidable`: what no setting prevents is found, and does not count."""

    paths: tuple[str, ...]
    product: str | None = None
    reader: str | None = None
    faults: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    search: bool = True
    allows_unavoidable: bool = False


class Finding(Struct, frozen=True):
    """Something that is wrong. `sentence`: what must hold; `violation`: the run that shows that it does not; `causes`:
    settings that make it possible; `changes`: under which it cannot happen; `timed`: of time-outs, what is known;
    `avoidable`: whether some change of settings prevents it without other harm, `None` where that was not found out."""

    kind: FindingKind
    name: str
    sentence: str
    violation: Violation | None = None
    causes: tuple[SettingValue, ...] = ()
    changes: tuple[Change, ...] = ()
    contradiction: Contradiction | None = None
    timed: Timed | None = None
    avoidable: bool | None = None


class Audit(Struct, frozen=True):
    """What an audit found. `names`: what the nodes of the spec are called in the files; `open`: properties that are not
    decided, and why; `skipped`: files that were not read, and why."""

    configuration: Configuration
    spec: Spec
    model: Modelled
    result: CheckResult
    findings: tuple[Finding, ...]
    search: Search | None
    names: dict[str, str]
    files: tuple[str, ...]
    skipped: tuple[str, ...]
    open: tuple[tuple[str, str], ...]
    explored: int
    seconds: float
    timed: Timed | None = None
    allows_unavoidable: bool = False

    @property
    def exit_code(self) -> int:
        """0: nothing is wrong in this scope that counts; 1: something is; 3: not decided."""
        allowed = (False,) if self.allows_unavoidable else ()
        return 1 if any(one.avoidable not in allowed for one in self.findings) else 3 if self.open else 0

    def kind_of(self, name: str) -> FindingKind:
        """What a violation of a property is."""
        kinds = self.model.mode.findings
        return kinds[name] if name in kinds else kinds[declared_name(name)]

    def sentence_of(self, name: str) -> str:
        """What must hold."""
        return next((one.prop.description for one in self.result.properties if one.prop.name == name), "") or ""


def read_system(
    paths: Sequence[str], product: str | None, reader: str | None
) -> tuple[Configuration, list[Recognised], list[str]]:
    """The configuration that files describe, its files, and what was not read. Errors: `InputError`."""
    given = sources_of(paths)
    sources, skipped = given.found, given.skipped
    chosen, version = chosen_reader(sources, product, reader)
    skipped += require_mounted(chosen, given.missing)
    found = recognised(chosen, sources)
    if not any(not chosen.file[one.kind].companion for one in found):
        raise Unreadable(", ".join(paths), None, f"no file of {chosen.title} is there", _expected(chosen))
    read = {one.source.shown for one in found}
    skipped += [
        f"{one.shown}: no file of {chosen.title}" for one in sources if one.shown not in read and not one.composes
    ]
    return read_configuration(chosen, found, version), found, skipped


def _expected(reader: Reader) -> str:
    kinds = [f"{' or '.join(kind.names)} with {' or '.join(kind.signature)}" for kind in reader.file.values()]
    return f"expected: {'; '.join(kinds)}"


def audit(
    request: AuditRequest,
    proceeding: Callable[[], bool] = lambda: True,
    phase: Callable[[str], None] = lambda what: None,
) -> Audit:
    """Reads the files, explores what they amount to, and looks for a change that helps. `proceeding`: called often,
    returns whether to go on; `phase`: gets what is being done. Errors: `InputError`."""
    begun = time.monotonic()
    phase("reading files")
    configuration, found, skipped = read_system(request.paths, request.product, request.reader)
    mode = mode_of(configuration)
    spec = load(mode.spec)
    model = modelled(configuration, spec, mode, request.faults)
    settings = {**model.settings, **request.settings}
    model = Modelled(model.mode, settings, model.scope, model.made_of, model.notes, model.by_version)
    phase(f"exploring {spec.name}")
    explorer = Explorer(spec, mode.check or None, tuple(mode.findings), request.limits, proceeding)
    result = explorer.result(settings)
    violated = violations(explorer, settings, model.scope)
    undecided = tuple((one.prop.name, one.answer.scope) for one in result.properties if one.answer.verdict == "unknown")
    search = None
    names = frozenset(one.name for one in violated)
    if names and request.search and proceeding():
        phase("looking for settings that help")
        going_on = until(request.limits.wall_seconds_max, proceeding)
        narrow = Explorer(spec, mode.check or None, tuple(sorted(names)), request.limits, going_on)
        whole = Explorer(spec, mode.check or None, explorer.properties, request.limits, going_on)
        search = search_changes((narrow, whole), configuration, model, names)
        search = replace(search, remedies=helping(narrow, configuration, model, names))
        explorer.explored += narrow.explored + whole.explored
    times = None
    if mode.timing is not None and proceeding():
        phase("exploring time-outs")
        times = timed(configuration, mode.timing, request.limits, proceeding)
        undecided += (
            ((mode.timing.property, "time-outs"),)
            if times is not None and times.safe is None and not times.notes
            else ()
        )
    findings = [
        *(_contradicting(one) for one in contradictions(configuration, mode)),
        *(_finding(configuration, model, one, search) for one in violated),
        *(_too_slow(one) for one in (times,) if one is not None and one.safe is False),
    ]
    return Audit(
        configuration, spec, model, result, tuple(findings), search, _explored_names(configuration, mode, result),
        tuple(dict.fromkeys(one.source.shown for one in found)), tuple(skipped), undecided, explorer.explored,
        time.monotonic() - begun, times, request.allows_unavoidable,
    )  # fmt: skip


def _explored_names(configuration: Configuration, mode: Mode, result: CheckResult) -> dict[str, str]:
    """What the nodes of the spec that were explored are called in the files."""
    explored = {show(kind, one) for kind in result.system.nodes for one in values(kind)}
    return {of_spec: name for of_spec, name in node_names(configuration, mode).items() if of_spec in explored}


def _too_slow(one: Timed) -> Finding:
    sentence = one.rule.says or "time-outs keep their order"
    return Finding(one.rule.kind, one.rule.property, sentence, causes=one.values, timed=one, avoidable=True)


def _contradicting(one: Contradiction) -> Finding:
    places = tuple(value for _, value in one.places)
    return Finding(one.rule.kind, one.rule.says, one.rule.says, causes=places, contradiction=one, avoidable=True)


def _finding(configuration: Configuration, model: Modelled, one: Violation, search: Search | None) -> Finding:
    prop = one.result.prop
    kind = model.mode.findings.get(prop.name) or model.mode.findings[declared_name(prop.name)]
    changes = search.by_finding.get(prop.name, ()) if search else ()
    changes = changes or tuple(change for change in (search.changes if search else ()) if prop.name in change.cures)
    of_kinds = [change for one in (search.by_fault if search else ()) for change in one.changes]
    alone = [change for change in of_kinds if prop.name in change.cures]
    helped = [help.remedy for help in (search.remedies if search else ()) if prop.name in help.cures]
    causes = _causes(configuration, model, [*changes, *alone], helped)
    return Finding(
        kind,
        prop.name,
        prop.description or prop.name,
        one,
        tuple(causes),
        changes,
        avoidable=_is_avoidable(search, prop.name),
    )


def _is_avoidable(search: Search | None, name: str) -> bool | None:
    if search is None or not (search.complete or name in search.by_finding):
        return None
    return name in search.by_finding


def _causes(
    configuration: Configuration, model: Modelled, changes: Sequence[Change], helped: Sequence[Remedy]
) -> list[SettingValue]:
    """The settings that make a violation possible: those of which a change prevents it without other harm, or what a
    kind of fault alone leads to; where there is none, those of which a remedy would need another value, else those that
    choose the mode. A setting whose other values bring other harm is none of them."""
    by_one = [one for one in changes if not one.brings]
    least = min((len(one.edits) for one in by_one), default=0)
    clean = [one for one in by_one if len(one.edits) == least]
    names = tuple(dict.fromkeys(edit.name for change in clean for edit in change.edits))
    if names:
        edited = {(edit.name, node) for change in clean for edit in change.edits for node in edit.nodes}
        return [node.values[name] for name in names for node in configuration.nodes if (name, node.name) in edited]
    behind = [name for remedy in helped for of_spec in remedy.set for name in model.made_of.get(of_spec, ())]
    if found := settings_behind(configuration, tuple(dict.fromkeys(behind))):
        return found
    chosen = settings_behind(configuration, tuple(sorted(names_in(model.mode.when))))
    return [one for one in chosen if one.line is not None]


def node_of(configuration: Configuration, value: SettingValue) -> Node | None:
    """The node that has a value."""
    return next((node for node in configuration.nodes if node.values.get(value.name) is value), None)
