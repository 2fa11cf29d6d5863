"""Runs `hacheck explore`: from a spec, saved runs or a log, serves the page until Ctrl-C."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck import __version__
from hacheck.checker.verify import default_check, questions_of
from hacheck.cli.checking.saved_runs import choose, decode, one_of_several, read_json, saved_runs, spec_of, system_of
from hacheck.cli.exploring.explored_views import ExploredRun, ExploredViews
from hacheck.cli.exploring.loopback_server import ADDRESS, LoopbackServer
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.options import all_known
from hacheck.cli.page.html_page import html_page
from hacheck.cli.page.page_diagrams import diagrams_of
from hacheck.cli.page.report_data import ShownRun, ViewMaker, frame, key_of, verdicts_of
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.language.reader_expressions import ReaderExpressions
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption

Json: TypeAlias = Any

STARTS_MAX = 20
"""So many initial states are on the page."""


class ExploreRequest(Struct, frozen=True):
    """What the user wants of `explore`. `port`: 0 for any that is free."""

    spec: str
    check: str | None
    settings: Mapping[str, str]
    only: str | None
    run: str | None
    log: str | None
    adapter: str | None
    at: str | None
    port: int
    browser: bool
    no_color: bool


def explore_spec(request: ExploreRequest) -> ExitCode:
    """Serves the page until Ctrl-C."""
    if request.run is not None and request.log is not None:
        raise BadInput("--run and --log: the page begins with one of them", "leave one out")
    if request.adapter is not None and request.log is None:
        raise BadInput("--adapter is for a log", "add --log TRACES")
    fragment = fragment_of(request.at)
    specification = load_specification(request.spec, no_color=request.no_color)
    if request.run is not None:
        shown, document = from_saved(request, specification, request.run)
    elif request.log is not None:
        from hacheck.cli.exploring.explored_logs import from_log

        shown, document = from_log(request, specification, request.log), {}
    else:
        shown, document = from_start(request, specification), {}
    page, views = live_page(request, specification, shown, document)
    try:
        server = LoopbackServer(request.port, page, views.answer)
    except OSError as error:
        raise BadInput(f"--port {request.port}: cannot listen on {ADDRESS}: {error.strerror}") from None
    url = server.url + fragment
    said = f"exploring {specification.name}; only this machine can open it; Ctrl-C ends it"
    with server, Interruption().watching() as interruption:
        print(url, flush=True)
        print(said, file=sys.stderr, flush=True)
        if request.browser:
            with suppress(webbrowser.Error):
                webbrowser.open(url)
        server.timeout = 0.1
        while not interruption.requested:
            server.handle_request()
    print("stopped", file=sys.stderr)
    return ExitCode.AS_EXPECTED


def fragment_of(link: str | None) -> str:
    """What of a link says where on the page it leads: all from `#` on. Errors: `BadInput`."""
    if link is None:
        return ""
    _, mark, place = link.partition("#")
    if not mark or not place.startswith("/"):
        raise BadInput(f"--at {link}: no link of a page", "for example --at '#/run/icestorm.ha/default/served/4~1'")
    return f"#{place}"


def live_page(
    request: ExploreRequest, specification: Specification, shown: list[ShownRun], document: Json
) -> tuple[str, ExploredViews]:
    """The page, and what answers it."""
    maker = ViewMaker(specification)
    runs: dict[str, ExploredRun] = {}
    contents = []

    @cache
    def expressions(check: str, settings: tuple[tuple[str, str], ...]) -> ReaderExpressions:
        known = {parameter.name for parameter in specification.parameters}
        return ReaderExpressions(specification, check, {name: value for name, value in settings if name in known})

    for one in shown:
        view, content = maker.view(one)
        key = key_of(specification, one.check, one.name)
        runs[key] = ExploredRun(view, partial(expressions, one.check, one.system.settings))
        contents.append((key, content))
    report = frame(specification, __version__)
    if "checks" in document:
        report |= verdicts_of(document)
    report["diagrams"] = diagrams_of(shown)
    return html_page(report, contents, live=True), ExploredViews(runs)


def from_start(request: ExploreRequest, specification: Specification) -> list[ShownRun]:
    """The initial states, each as a run without a step. Errors: `BadInput`."""
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    prop = property_of(system, request.only)
    interpreter = Interpreter(system)
    try:
        starts = interpreter.initial_states()
    except EvaluationError as error:
        raise BadInput(f"{system.name} cannot begin: {error.message}") from None
    if not starts:
        raise BadInput(f"{system.name} has no initial state under these settings", interpreter.why_no_start())
    if len(starts) > STARTS_MAX:
        print(f"the page begins with {STARTS_MAX} of {len(starts):,} initial states", file=sys.stderr)
    check = request.check or default_check(specification)
    names = ["start", *(f"start {number}" for number in range(2, STARTS_MAX + 1))]
    return [ShownRun(check, name, system, Run(start, ()), prop) for name, start in zip(names, starts, strict=False)]


def property_of(system: System, name: str | None) -> Any:
    """The property of a name. Errors: `BadInput`."""
    if name is None:
        return None
    all_known("property", (name,), [one.name for one in system.properties])
    return next(one for one in system.properties if one.name == name)


def from_saved(request: ExploreRequest, specification: Specification, file: str) -> tuple[list[ShownRun], Json]:
    """The runs in a file, and the document that they are from. Errors: `BadInput`."""
    if request.settings:
        raise BadInput("--set does not go with --run: a saved run has its settings", "leave --set out")
    content = read_json(file)
    several = isinstance(content, dict) and "specs" in content
    document = one_of_several(content["specs"], file, request.spec) if several else content
    found = saved_runs(document, file)
    if request.check is not None or request.only is not None or not found:
        found = [choose(found, file, request.check, request.only)]
    systems: dict[tuple[tuple[str, str], ...], System] = {}
    verdicts = {(one["name"], item["name"]): item for one in document.get("checks", ()) for item in one["properties"]}
    known = [question.name for question in questions_of(specification)]
    shown = []
    for saved in found:
        system = system_of(specification, saved, systems, no_color=request.no_color)
        prop = next((one for one in system.properties if one.name == saved.property), None)
        verdict = verdicts.get((saved.check, saved.property), {})
        check = saved.check if saved.check in known else default_check(specification)
        outcome, scope = str(verdict.get("outcome", "")), str(verdict.get("scope", ""))
        run = decode(system, saved, file)
        name = saved.property or "run"
        shown.append(ShownRun(check, name, system, run, prop, str(verdict.get("verdict", "")), outcome, scope))
    return shown, document


__all__ = ["ExploreRequest", "explore_spec", "spec_of"]
