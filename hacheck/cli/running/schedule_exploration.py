"""Carries out `hacheck check-impl`: explores the schedules of a protocol's code, and reports what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.comparison import nodes_of
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.cli.console import error_console, output_console, say, seconds, symbols
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.options import all_known
from hacheck.cli.pictures.run_formats import drawing
from hacheck.cli.pictures.run_picture import RunPicture
from hacheck.cli.progress import ProgressLine, working
from hacheck.cli.running.protocols import first_possible, refusals
from hacheck.cli.running.saved_code_runs import code_page
from hacheck.cli.selection import one_check
from hacheck.cli.sources import instantiate, load_specification
from hacheck.documents.implementation import (
    ActionCoverage,
    CheckImplDocument,
    Disagreement,
    ScheduleCoverage,
    ScheduleStep,
)
from hacheck.impl.system import System
from hacheck.impl.systems import system as code_of
from hacheck.model.language import syntax_tree
from hacheck.model.language.declarations import NodeDeclaration
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.model.observing.record_layout import ObservingError
from hacheck.supervise.interruption import Interruption
from hacheck.testing.code_runs.code_view import CodeRun, code_view
from hacheck.testing.code_runs.watched_schedule import schedule_entries
from hacheck.testing.expected_lines import instead
from hacheck.testing.line_encoding import UnfitEvent
from hacheck.testing.reference_protocols import FOLLOWED, Followed
from hacheck.testing.schedules.schedule_coverage import ModelCoverage, model_coverage
from hacheck.testing.schedules.schedule_search import Explored, Exploring, Found, Limits, Setting
from hacheck.testing.state_tracker import Tracker
from hacheck.testing.tested_model import kept_invariants
from hacheck.wording import plural

if TYPE_CHECKING:
    from rich.console import Console

    from hacheck.model.language.syntax_tree import Expression
    from hacheck.traces.conformance.diagnosis import Diagnosis

REPLICAS_TRIED = (2, 3, 1, 4)

SCHEDULES = "schedules in which the code does what the model does not allow"

Json: TypeAlias = Any

FAULTS = {"crash": "crash", "cut": "cut", "power": "power failure", "lock": "lost lock"}
"""What people call the kinds of faults."""


class Request(Struct, frozen=True):
    """What the command line asks for."""

    code: str
    spec: str | None
    check: str | None
    settings: Mapping[str, str]
    options: Mapping[str, str]
    nodes: Mapping[str, str]
    replicas: int | None
    clients: int | None
    faults: Mapping[str, int]
    steps: int | None
    limits: Limits
    json: str | None
    form: str | None
    out: str | None
    report: str | None
    quiet: bool
    no_color: bool


def explore_schedules(request: Request) -> ExitCode:
    """Explores, reports what was found, and returns what the process is to return. Errors: `BadInput`, `Reported`."""
    target = None if request.json is None else open_target(request.json)
    drawn = open_target(request.out or "-") if request.form is not None else None
    page = None if request.report is None else open_target(request.report)
    with refusals():
        followed = _followed(request)
        code = code_of(followed.code)
        request = replace(request, limits=replace(request.limits, steps=request.steps or followed.steps))
        setting = _setting(request, followed, code)
        followed = _sized(request, followed, setting)
        try:
            tracker = _tracker(request, followed)
            explored = _explored(request, setting, tracker)
        except (ObservingError, UnfitEvent) as error:
            raise BadInput(f"{followed.spec}: {error}") from None
    known = sorted({event.name for event in tracker.compiled.shape.events})
    with working("looking for what no schedule covers", quiet=request.quiet, no_color=request.no_color):
        covered = Covered(
            system=tracker.system.name,
            lines={name: explored.shown[name] for name in known},
            model=model_coverage(tracker),
        )
    ended = exit_code(explored, request.limits, compared=covered.compared)
    shown = [(found, _instead(tracker, found)) for found in explored.found]
    if target is not None:
        target.write(document_of(request, setting, explored, shown, covered, ended))
    views = [_view(request, setting, found, place) for place, found in enumerate(explored.found, start=1)]
    if page is not None and views:
        name = "disagreement" if len(views) == 1 else "disagreement {}"
        lines = [" ".join(line.split()) for line in _coverage_lines(setting, explored, covered)]
        description = f"{SCHEDULES}. {'; '.join(lines)}"
        page.save(code_page(request.code, description, {name.format(n): view for n, view in enumerate(views, start=1)}))
    if drawn is not None and views:
        content = json.dumps(views[0], ensure_ascii=False) + "\n"
        drawn.save(content if request.form == "json" else drawing(request.form or "", views[0]))
    if not views and (page or drawn) is not None:
        unwritten = " and ".join(one for one in (request.report, request.form and (request.out or "-")) if one)
        errors = error_console(no_color=request.no_color)
        say(errors, f"no schedule disagrees, so there is nothing to draw: {unwritten} is not written")
    if request.json != "-" and (drawn is None or drawn.path is not None):
        _show(request, setting, explored, shown, covered, ended)
    return ended


def _instead(tracker: Tracker, found: Found) -> Diagnosis | None:
    """What the model would have allowed where a schedule leaves it; `None` where it is something else that is wrong."""
    if found.broken is None:
        return None
    shown = [event for step in found.steps for event in step.shown]
    last = max(place for place, event in enumerate(shown) if event is found.broken.event)
    return tracker.explain(shown[: last + 1])


class Covered(Struct, frozen=True):
    """What schedules covered of a model, the `system`: `lines`, how often the code wrote each event that it has, also
    not at all; `model`, what of it was possible."""

    system: str
    lines: Mapping[str, int]
    model: ModelCoverage

    @property
    def compared(self) -> bool:
        """Whether the code wrote any line of the model at all."""
        return any(self.lines.values())

    @property
    def unwritten(self) -> list[str]:
        """The events that the code never wrote."""
        return [name for name, number in self.lines.items() if not number]


def _explored(request: Request, setting: Setting, tracker: Tracker) -> Explored:
    """What exploring finds, while its progress is reported."""
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("running"):

        def report(explored: Explored) -> bool:
            line.update(lambda: f"{plural(explored.schedules, 'schedule')}, {plural(explored.states, 'state')}")
            return not interruption.requested

        return Exploring(setting, tracker, request.limits, report).run()


def exit_code(explored: Explored, limits: Limits, *, compared: bool = True) -> ExitCode:
    """What it means for the caller. Schedules that could not be compared to their ends decide nothing, nor do those in
    which no line was `compared`."""
    if explored.found:
        return ExitCode.NOT_AS_EXPECTED
    whole = compared and explored.complete >= limits.deviations and not explored.at_bound and not explored.undecided
    return ExitCode.AS_EXPECTED if whole else ExitCode.UNDECIDED


# ---- what is explored ----


def _followed(request: Request) -> Followed:
    """How code and model are compared: as the reference implementation is, with what the user says before it."""
    known = FOLLOWED.get(request.code)
    if known is None:  # a protocol that there is not is refused before anything else
        all_known("protocol", [request.code] * (":" not in request.code), FOLLOWED)
        code_of(request.code)
    if known is None and request.spec is None:
        raise BadInput(f"{request.code}: its model is not known", "name the spec: --spec my.ha")
    reference = known or Followed(request.code, "", replicas=0)
    base = reference if request.spec is None else Followed(reference.code, request.spec)
    return replace(
        base,
        check=request.check or base.check,
        settings={**(base.settings if request.check is None else {}), **request.settings},
        options={**reference.options, **request.options},
        called={**base.called, **request.nodes},
        replicas=request.replicas or reference.replicas,
        clients=reference.clients if request.clients is None else request.clients,
    )


def _tracker(request: Request, followed: Followed) -> Tracker:
    """What follows the model. Errors: `BadInput`, `Reported`, `ObservingError`."""
    specification = load_specification(followed.spec, no_color=request.no_color)
    check = one_check(specification, followed.check, followed.settings)
    system = instantiate(specification, followed.settings, check, logs=True, no_color=request.no_color)
    if not has_lines(system):
        raise BadInput(f"{followed.spec}: nothing to compare: it has no `log` and no `observe`", "add them")
    all_known("node", request.nodes.values(), nodes_of(system))
    invariants = kept_invariants(specification, system, check)
    with working("preparing the model", quiet=request.quiet, no_color=request.no_color):
        return Tracker(logged(system), invariants, followed.called)


def _setting(request: Request, followed: Followed, code: System) -> Setting:
    """The cluster. Errors: `Refused`."""
    options = code.options(followed.options)
    tried = (followed.replicas,) if followed.replicas else REPLICAS_TRIED
    replicas, members = first_possible(code, tried, followed.clients, options)
    all_known("member", request.nodes, sorted({member.name for member in members}))
    return Setting(code, replicas, followed.clients, options, request.faults, "clients" not in followed.spared)


def _sized(request: Request, followed: Followed, setting: Setting) -> Followed:
    """With the spec's sizes those of the cluster, where the command line gives the latter and not the former."""
    if request.replicas is None and request.clients is None:
        return followed
    members = setting.code.members(setting.replicas, setting.clients, setting.options)
    names = [followed.called.get(member.name, member.name).lower() for member in members]
    mapped = {name.rpartition("-")[0] for name in followed.called}
    for member in members:
        if member.name not in followed.called and member.name.rpartition("-")[0] in mapped:
            raise BadInput(f"{member.name} stands for no node of the model", f"map it: --node {member.name}=NODE")
    sizes = {}
    for declared in load_specification(followed.spec, no_color=request.no_color).declarations:
        if not isinstance(declared, NodeDeclaration):
            continue
        number = sum(name.rpartition("-")[0] == declared.name.text.lower() for name in names)
        size = _size_setting(declared.size)
        if number and size is not None and size[0] not in request.settings:
            sizes[size[0]] = str(number - size[1])
    return replace(followed, settings={**followed.settings, **sizes})


def _size_setting(size: Expression | None) -> tuple[str, int] | None:
    """The setting that a number of nodes is, and how many there are besides: `N`, or `1 + N`."""
    match size:
        case syntax_tree.Name(text=name):
            return name, 0
        case syntax_tree.Infix(operator="+", left=syntax_tree.Number(value=more), right=syntax_tree.Name(text=name)):
            return name, more
    return None


# ---- what is shown ----


def _show(
    request: Request,
    setting: Setting,
    explored: Explored,
    shown: Sequence[tuple[Found, Diagnosis | None]],
    covered: Covered,
    ended: ExitCode,
) -> None:
    console = output_console(no_color=request.no_color)
    for found, explanation in shown:
        _show_schedule(console, setting, found)
        for line in instead(explanation):
            say(console, f"  {line}")
        console.print()
    marks = symbols(console)
    mark, style = {
        ExitCode.AS_EXPECTED: (marks.holds, "good"),
        ExitCode.NOT_AS_EXPECTED: (marks.violated, "bad"),
    }.get(ended, (marks.unknown, "doubt"))
    said = {
        ExitCode.AS_EXPECTED: "the code conforms to the model",
        ExitCode.NOT_AS_EXPECTED: "the code does something that the model does not allow",
    }.get(ended, "undecided: no disagreement, but not everything was explored")
    if not (covered.compared or explored.found):
        said = "undecided: nothing was compared, since the code wrote no line that the model has"
    say(console, f"{mark} {request.code}: {said}", style)
    for line in _summary(request, setting, explored):
        if not request.quiet:
            say(console, f"  {line}")
    for line in _coverage_lines(setting, explored, covered):
        if not request.quiet:
            say(console, f"  {line}")


def _summary(request: Request, setting: Setting, explored: Explored) -> Iterator[str]:
    limits = request.limits
    faults = ", ".join(f"up to {plural(number, FAULTS[kind])}" for kind, number in setting.faults.items() if number)
    yield (
        f"{plural(setting.replicas, 'replica')}, {plural(setting.clients, 'client')}, {faults or 'no faults'}; "
        f"schedules of {limits.steps} steps, the longest had {explored.longest}"
    )
    yield (
        f"{plural(explored.schedules, 'schedule')}, {plural(explored.steps, 'step')}, "
        f"{plural(explored.states, 'state')} of code and model in {seconds(explored.seconds)}"
    )
    if explored.complete >= 0:
        done = plural(explored.complete, "deviation")
        yield f"every schedule with up to {done} was explored (those that lead to equal states: once)"
    if explored.complete < limits.deviations and not explored.found:
        yield f"with {plural(explored.complete + 1, 'deviation')} only some were explored: raise --time or --schedules"
    if explored.at_bound or explored.undecided:
        yield (
            f"{plural(explored.at_bound + explored.undecided, 'schedule')} could not be compared to the end, "
            f"the last one from {explored.bound}"
        )


def _coverage_lines(setting: Setting, explored: Explored, covered: Covered) -> Iterator[str]:
    """What the schedules covered, in the form of what state machines cover."""
    model = covered.model
    yield f"coverage: {plural(explored.schedules, 'schedule')} beside {covered.system}"
    if explored.schedules == 1:
        yield "  only     the usual order alone, without a deviation or a fault; raise --deviations"
    elif not any(setting.faults.values()):
        yield "  only     no fault was allowed (--crashes, --cuts, --power, --lock-losses)"
    possible = [f"{name} {number} of {model.instances[name]}" for name, number in sorted(model.possible.items())]
    if possible:
        yield f"  actions  {', '.join(possible)}"
    faults = [f"{FAULTS[kind]} {explored.faults[kind]:,}" for kind, most in setting.faults.items() if most]
    if faults:
        yield f"  faults   {', '.join(faults)}"
    if covered.compared:
        yield f"  lines    {', '.join(f'{name} {number:,}' for name, number in covered.lines.items() if number)}"
    if model.never:
        yield f"  never    actions: {', '.join(model.never)}"
    elif model.never is None:
        yield "  never    actions: unknown, since it would take too long to find out"
    if covered.unwritten:
        yield f"  never    lines: {', '.join(covered.unwritten)}"
    least = "" if model.whole else "at least "
    yield (
        f"  states   {least}{plural(model.states, 'state')} of the model explain some schedule, "
        f"with {plural(model.transitions, 'transition')} from them"
    )
    for name, conditions in model.lacks.items():
        said = " and ".join(conditions) or "possible, but its lines never came"
        yield f"  nearest  {name}: {said}"


def _show_schedule(console: Console, setting: Setting, found: Found) -> None:
    console.print(RunPicture(ViewReader(_code_view(setting, found))))
    say(console, f"{symbols(console).violated} {why(found)}", "bad")


def _code_view(setting: Setting, found: Found) -> Json:
    members = setting.code.members(setting.replicas, setting.clients, setting.options)
    choices = [step.choice for step in found.steps]
    entries, _ = schedule_entries(setting.code, members, setting.options, choices)
    return code_view(CodeRun(members, entries, broken=(why(found),)))


def _view(request: Request, setting: Setting, found: Found, place: int) -> Json:
    """The view of a schedule, with what it is a run of."""
    return _code_view(setting, found) | {
        "spec": request.code, "check": f"schedule {place}", "settings": dict(request.options),
    }  # fmt: skip


def why(found: Found) -> str:
    """What disagrees, in words."""
    if found.broken is not None:
        return f"{found.broken.event.text}: {found.broken.reason}"
    if found.violated:
        return f"every run of the model that explains this violates {', '.join(found.violated)}"
    return found.failed


def document_of(
    request: Request,
    setting: Setting,
    explored: Explored,
    shown: Sequence[tuple[Found, Diagnosis | None]],
    covered: Covered,
    ended: ExitCode,
) -> CheckImplDocument:
    """Everything that was found, as `--json` writes it."""
    return CheckImplDocument(
        hacheck=version(),
        code=request.code,
        schedules=explored.schedules,
        steps=explored.steps,
        states=explored.states,
        deviations_explored=explored.complete,
        not_compared_to_the_end=explored.at_bound + explored.undecided,
        lines_never_written=covered.unwritten,
        actions_never_possible=covered.model.never,
        coverage=_coverage(setting, explored, covered),
        seconds=round(explored.seconds, 3),
        disagreements=[_disagreement(found, explanation) for found, explanation in shown],
        exit_code=int(ended),
    )


def _coverage(setting: Setting, explored: Explored, covered: Covered) -> ScheduleCoverage:
    model = covered.model
    return ScheduleCoverage(
        model=covered.system,
        actions={
            name: ActionCoverage(possible=model.possible[name], instances=model.instances[name])
            for name in model.instances
        },
        faults={kind: explored.faults[kind] for kind in setting.faults},
        lines=dict(covered.lines),
        states=model.states,
        transitions=model.transitions,
        whole=model.whole,
        lacks={name: list(conditions) for name, conditions in model.lacks.items()},
    )


def _disagreement(found: Found, explanation: Diagnosis | None) -> Disagreement:
    return Disagreement(
        why=why(found),
        expected=[] if explanation is None else list(explanation.expected),
        expected_before_step=[] if explanation is None else list(explanation.sooner),
        steps=[
            ScheduleStep(step=list(step.choice), about=step.about, shown=[event.text for event in step.shown])
            for step in found.steps
        ],
    )
