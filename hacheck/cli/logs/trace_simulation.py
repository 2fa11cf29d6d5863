"""Carries out `hacheck simulate --traces`: says what is to be written, has it written, and reports what was."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from hacheck.atomic_files import replace_text
from hacheck.checker.engine import Progress, Report
from hacheck.cli.guard import BadInput, ExitCode, Reported, version
from hacheck.cli.jobs import job_pool
from hacheck.cli.json_output import open_folder, open_target
from hacheck.cli.logs.trace_simulation_report import far, plan_document, show, written
from hacheck.cli.options import all_known
from hacheck.cli.progress import ProgressLine
from hacheck.cli.selection import one_check
from hacheck.cli.sources import instantiate, load_specification
from hacheck.documents.document import from_dict
from hacheck.documents.records import SimulateTracesDocument
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.model.observing.record_layout import ObservingError
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Failed, Message, ProcessPool
from hacheck.supervise.recursion_limit import pickled, room_for_nesting
from hacheck.supervise.resources import usable_cores
from hacheck.traces import manifest
from hacheck.traces.simulation.damage import KINDS
from hacheck.traces.simulation.part_files import FORMS, MANIFEST, TRUTH, UNFINISHED, File, Written, write_part
from hacheck.traces.simulation.plan import STEPS_MAX, TRACES_MAX, Plan, events_in, fields_in, shape_of
from hacheck.traces.simulation.trace_maker import Maker
from hacheck.traces.simulation.walk_program import NoStart

WAIT_SECONDS = 0.1
JOIN_SECONDS = 5.0
"""How long after Ctrl-C files that are being written may take to be given up."""


class Walks(Struct, frozen=True):
    """The runs to make. `every`: each step is to write a line, whatever the spec says."""

    spec: str
    check: str | None
    settings: Mapping[str, str]
    traces: int
    steps: int
    seed: int
    every: bool = False


class Unlike(Struct, frozen=True):
    """In what the traces are to be unlike the runs, as the command line says it."""

    hide: str | None = None
    hide_fields: str | None = None
    skew: int | None = None
    drop: str | None = None
    mutate: str | None = None
    kinds: str | None = None


class Output(Struct, frozen=True):
    """Where things go."""

    out: str | None
    form: str = "parquet"
    jobs: int | None = None
    json: str | None = None
    quiet: bool = False
    no_color: bool = False


def simulate_traces(walks: Walks, unlike: Unlike, output: Output) -> ExitCode:
    """Writes traces, and returns what the process is to return. Errors: `BadInput`."""
    if output.out is None:
        raise BadInput("--traces needs --out", "add --out DIR, a folder that is empty or new")
    check, every_step, plan = plan_of(walks, unlike, output)
    target = None if output.json is None else open_target(output.json)
    folder = empty_folder(output.out)
    writing = Writing(plan, folder, output)
    files, stopped = writing.run()
    total = Written()
    for file in files.values():
        total = total.plus(file.written)
    complete = len(files) == plan.files
    said = {**plan_document(plan, walks.spec, check, every_step), **written(total, len(files), complete)}
    _write_manifests(folder, plan, files, said)
    code = ExitCode.AS_EXPECTED if complete else ExitCode.UNDECIDED
    if target is not None:
        more = {"out": output.out, "jobs": writing.jobs, "seconds": round(writing.elapsed, 3), "exit_code": int(code)}
        target.write(from_dict(SimulateTracesDocument, {"hacheck": version(), **said, **more}))
    if output.json != "-" and not (output.quiet and complete):
        show(plan, output.out, total, len(files), writing.elapsed, no_color=output.no_color)
    if stopped is not None:
        raise stopped
    return code


# ---- what is to be written ----


def plan_of(walks: Walks, unlike: Unlike, output: Output) -> tuple[str, bool, Plan]:
    """The check whose settings count, whether each step writes a line, what is to be written. Errors: `BadInput`."""
    if output.form not in FORMS:
        raise BadInput(f"--format {output.form}: no such form", f"there are: {', '.join(FORMS)}")
    if walks.steps > STEPS_MAX:
        raise BadInput(f"--steps {walks.steps}: a trace has {STEPS_MAX:,} steps at most")
    if walks.traces > TRACES_MAX:
        raise BadInput(f"--traces {walks.traces}: there are {TRACES_MAX:,} traces at most")
    specification = load_specification(walks.spec, no_color=output.no_color)
    check = one_check(specification, walks.check, walks.settings)
    system = instantiate(specification, walks.settings, check, logs=True, no_color=output.no_color)
    every_step = walks.every or not has_lines(system)
    kinds = _words(unlike.kinds, "--mutations") or KINDS
    all_known("mutation", kinds, KINDS)
    if unlike.kinds is not None and unlike.mutate is None:
        raise BadInput("--mutations needs --mutate", "add --mutate 0.01")
    plan = Plan(
        system=logged(system, every_step),
        name=f"{specification.name}-{walks.seed}",
        traces=walks.traces,
        steps=walks.steps,
        seed=walks.seed,
        hidden=_words(unlike.hide, "--hide"),
        hidden_fields=_words(unlike.hide_fields, "--hide-fields"),
        skew=unlike.skew,
        drop=parse_share("--drop-lines", unlike.drop),
        mutate=parse_share("--mutate", unlike.mutate),
        kinds=tuple(kind for kind in KINDS if kind in kinds),
        form=output.form,
    )
    try:
        shape = shape_of(plan)
    except ObservingError as error:
        raise BadInput(f"{walks.spec}: {error}", "see `log` in docs/language.md: hacheck explain language") from None
    all_known("event", plan.hidden, events_in(shape.points))
    all_known("field", plan.hidden_fields, fields_in(shape.points))
    return check, every_step, plan


def _words(text: str | None, name: str) -> tuple[str, ...]:
    """The words of `a,b,c`. Errors: `BadInput`."""
    found = tuple(dict.fromkeys(word.strip() for word in (text or "").split(",") if word.strip()))
    if text is not None and not found:
        raise BadInput(f"{name} {text}: names nothing")
    return found


def parse_share(name: str, text: str | None) -> float:
    """A share from 0 to 1: `0.01`, `1%`. Errors: `BadInput`."""
    if text is None:
        return 0.0
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise BadInput(f"{name} {text}: not a share", f"write a number from 0 to 1, or a percentage: {name} 0.5%")
    return found


def empty_folder(text: str) -> Path:
    """A folder with nothing in it. Errors: `BadInput`."""
    folder = open_folder(text)
    try:
        if any(folder.iterdir()):
            raise BadInput(f"{text}: is not empty", "give a new folder: traces of two runs are not mixed")
        (folder / TRUTH).mkdir()
    except OSError as error:
        raise BadInput(f"{text}: cannot be written: {error.strerror}") from None
    return folder


# ---- writing ----


class Writing:
    """Files being written. `elapsed`: seconds, when it is done."""

    def __init__(self, plan: Plan, folder: Path, output: Output) -> None:
        self.plan, self.folder, self.output = plan, folder, output
        self.jobs = max(min(output.jobs or usable_cores(), plan.files), 1)
        self.elapsed = 0.0
        self._files: dict[int, File] = {}
        self._under_way: dict[int, Written] = {}

    def run(self) -> tuple[dict[int, File], BadInput | Reported | None]:
        """Writes all files. Returns those that are whole, and why there are not more, if it is an error."""
        begun = time.monotonic()
        stopped: BadInput | Reported | None = None
        line = ProgressLine(quiet=self.output.quiet, no_color=self.output.no_color)
        with Interruption().watching() as interruption, line.shown("preparing"):
            try:
                # Compiled here first: what is wrong is found once, and the other processes find the code.
                content = pickled(self.plan)
                maker = maker_of(content)
                if self.jobs == 1:
                    self._alone(maker, lambda: interruption.requested, line)
                else:
                    self._side_by_side(content, lambda: interruption.requested, line)
            except (BadInput, Reported) as error:
                stopped = error
            finally:
                self._sweep()
        self.elapsed = time.monotonic() - begun
        if stopped is not None and not self._files:
            with suppress(OSError):
                (self.folder / TRUTH).rmdir()
            raise stopped
        return dict(sorted(self._files.items())), stopped

    def _alone(self, maker: Maker, is_over: Callable[[], bool], line: ProgressLine) -> None:
        for number in range(self.plan.files):

            def report(written: Written, number: int = number) -> bool:
                self._under_way[number] = written
                line.update(lambda: far(self.plan, self._total(), line.passed))
                return not is_over()

            file = _written(maker, self.folder, number, report)
            if file is None:
                return
            self._files[number] = file

    def _side_by_side(self, content: bytes, is_over: Callable[[], bool], line: ProgressLine) -> None:
        waiting = list(range(self.plan.files))
        with job_pool(self.jobs) as processes:
            while (waiting or processes.busy) and not is_over():
                while waiting and processes.busy < self.jobs:
                    number = waiting.pop(0)
                    processes.begin(number, partial(write_file, content, str(self.folder), number))
                self._take(processes, WAIT_SECONDS)
                line.update(lambda: far(self.plan, self._total(), line.passed))
            processes.ask_to_stop()
            until = time.monotonic() + JOIN_SECONDS
            while processes.busy and (left := until - time.monotonic()) > 0:
                self._take(processes, left)

    def _take(self, processes: ProcessPool[int], seconds_: float) -> None:
        for number, event in processes.wait(seconds_):
            match event:
                case Message(progress):
                    self._under_way[number] = Written(progress.depth, 0, progress.transitions, progress.states)
                case Done(None):
                    pass
                case Done(file):
                    self._files[number] = file
                case Failed("BadInput") as failed:
                    raise BadInput(failed.message, failed.hint)
                case Failed() as failed:
                    if failed.kind == "MemoryError":
                        raise MemoryError(failed.message)
                    raise failed.as_mistake(f"file {number}")
                case Died() as died:
                    raise BadInput(f"file {number}: its process {died.how}", "--jobs 1 writes one file at a time")

    def _total(self) -> Written:
        total = Written()
        for number, file in self._files.items():
            self._under_way.pop(number, None)
            total = total.plus(file.written)
        for one in self._under_way.values():
            total = total.plus(one)
        return total

    def _sweep(self) -> None:
        """Removes what a process has left behind that was ended."""
        for place in (self.folder, self.folder / TRUTH):
            with suppress(OSError):
                for path in place.glob(f".*{UNFINISHED}"):
                    path.unlink()


def write_file(content: bytes, folder: str, number: int, report: Report) -> File | None:
    """Writes one file of a plan; what another process does."""

    def report_written(written: Written) -> bool:
        return report(Progress(written.records, written.steps, written.traces, 0, 0.0, 0, "writing"))

    return _written(maker_of(content), Path(folder), number, report_written)


def _written(maker: Maker, folder: Path, number: int, report: Callable[[Written], bool]) -> File | None:
    try:
        return write_part(maker, folder, number, report)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"{folder}: cannot be written: {reason}", "files that are there are complete") from None


@lru_cache(maxsize=1)
def maker_of(content: bytes) -> Maker:
    """What makes the traces of a plan, the same for one file after the other. Errors: `BadInput`."""
    plan = pickle.loads(content)
    assert isinstance(plan, Plan), "nothing else is sent"
    try:
        with room_for_nesting():
            return Maker(plan)
    except NoStart as error:
        raise BadInput(str(error)) from None
    except ObservingError as error:
        raise BadInput(
            f"{plan.system.name}: {error}", "see `log` in docs/language.md: hacheck explain language"
        ) from None


def _write_manifests(folder: Path, plan: Plan, files: Mapping[int, File], said: dict[str, Any]) -> None:
    parts = [file.part for file in files.values() if file.part is not None]
    try:
        if parts:
            header = shape_of(plan).schema(plan.skew is not None).header()
            _write_json(folder / manifest.NAME, manifest.to_json(parts, header))
        _write_json(folder / MANIFEST, said)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None


def _write_json(path: Path, content: object) -> None:
    replace_text(path, json.dumps(content, indent=1) + "\n")
