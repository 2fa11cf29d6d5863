"""Runs `hacheck doc`: verifies a spec, explores it for its diagram, and writes the page about it."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.state_diagram import Sightings, diagrams, mode_fields, walk
from hacheck.checker.verify import default_check
from hacheck.cli.checking.explored_checks import explored
from hacheck.cli.checking.request import Request
from hacheck.cli.console import error_console
from hacheck.cli.diagrams.markup import mermaid
from hacheck.cli.diagrams.svg import svg
from hacheck.cli.diagrams.view import View, view_of
from hacheck.cli.document.page import Source, page
from hacheck.cli.document.prose import code
from hacheck.cli.document.results_section import Findings
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.json_output import open_target
from hacheck.cli.progress import progress_display
from hacheck.cli.selection import Selection, one_system, select
from hacheck.cli.sources import load_specification, with_libraries
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.supervise.interruption import Interruption

WALK_STATES, WALK_RUNS = 20_000, 1_000
"""How far the model is walked for the diagram: breadth first up to so many states, then so many runs at random. Not a
time: the same spec has the same page on every machine."""

DIFFERENCES = 20
"""So many lines of a difference are shown."""

ABSENT = "not seen here"
"""What is said of an edge that the text allows and the walk has not seen: other settings may have it."""

LIMITS = f"What is marked as {ABSENT}, the text of the spec allows; other settings may show it."
"""What a diagram leaves open."""


class DocumentRequest(Struct, frozen=True):
    """What the user wants of `doc`. `out`: where the page goes, `None` for standard output. `compare`: change nothing,
    say whether the page is what would be written. `verify`: how checks are run; `None` to run none."""

    spec: str
    out: Path | None
    compare: bool
    verify: Request | None
    no_color: bool


class Written(Struct, frozen=True):
    """A page and, where there is something to draw, its picture."""

    page: str
    picture: str | None


def document(request: DocumentRequest) -> ExitCode:
    """Writes the page, or compares it with what is there."""
    if request.compare and request.out is None:
        raise BadInput("--check compares with a file", "say which: --out docs/icestorm.md --check")
    if request.out is not None and (not request.out.name or request.out.is_dir()):
        raise BadInput(f"--out {request.out}: is a directory", "give the name of a file: --out docs/icestorm.md")
    specification = load_specification(request.spec, no_color=request.no_color)
    selection = None
    if request.verify is not None:
        selection = select(specification, (), {}, (), wide=False, no_color=request.no_color)
    refuse_foreign_picture(request)
    targets = [open_target(str(path)) for path in places(request) if not request.compare]
    with Interruption().watching() as interruption:
        made = made_of(request, specification, selection, interruption)
    if interruption.requested:
        print("hacheck: interrupted; nothing was written", file=sys.stderr)
        return ExitCode.UNDECIDED
    if request.out is None:
        sys.stdout.write(made.page)
        return ExitCode.AS_EXPECTED
    contents = [made.page, made.picture]
    if request.compare:
        return compared(list(zip(places(request), contents, strict=True)))
    for target, content in zip(targets, contents, strict=True):
        if content is not None:
            target.save(content)
            print(f"wrote {target.path}", file=sys.stderr)
    return ExitCode.AS_EXPECTED


def refuse_foreign_picture(request: DocumentRequest) -> None:
    """Errors: `BadInput` where the picture would take the place of one that no page of `doc` shows."""
    if request.out is None or request.compare:
        return
    picture = request.out.with_suffix(".svg")
    if not picture.exists():
        return
    try:
        own = f"]({picture.name})" in request.out.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        own = False
    if not own:
        hint = (
            f"the picture of the page would be written there: remove it, or give --out another name than {request.out}"
        )
        raise BadInput(f"{picture} is there, and is not the picture of an earlier {request.out}", hint)


def places(request: DocumentRequest) -> list[Path]:
    """The files of the page and of its picture."""
    return [] if request.out is None else [request.out, request.out.with_suffix(".svg")]


def made_of(
    request: DocumentRequest, specification: Specification, selection: Selection | None, interruption: Interruption
) -> Written:
    """The page of a spec and its picture. What an interruption left undone is missing in it."""
    system = one_system(specification, None, {}, no_color=request.no_color)
    views = views_of(system, request, interruption)
    findings = None
    if request.verify is not None and selection is not None:
        findings = findings_of(selection, request.verify, interruption)
    source = Source(request.spec, specification, system, texts_of(specification), request.out)
    picture = svg(views) if views and request.out is not None else None
    return Written(page(source, findings, shown(views, request.out, default_check(specification))), picture)


def texts_of(specification: Specification) -> dict[str, str]:
    """The texts of a spec and of the libraries it uses, by path."""
    paths = [one.span.path for one in specification.declarations]
    return with_libraries({specification.path: specification.text}, paths)


def views_of(system: System, request: DocumentRequest, interruption: Interruption) -> list[View]:
    """The state diagrams, with what a walk of a fixed length has seen."""
    fields = mode_fields(system)
    if not fields:
        return []
    errors = error_console(no_color=request.no_color)
    with progress_display(errors, "drawing", quiet=False):
        sightings = walked(system, interruption)
    views = [view_of(diagram, brief=True) for diagram in diagrams(system, fields, sightings)]
    return [replace(view, absent=ABSENT) for view in views]


def walked(system: System, interruption: Interruption) -> Sightings:
    """What a walk of a fixed length sees of the modes."""
    left = WALK_RUNS

    def report(states: int, transitions: int, frontier: int, seconds: float) -> bool:
        nonlocal left
        if states >= WALK_STATES:  # breadth first is over; from here on this is called before each run at random
            left -= 1
        return left >= 0 and not interruption.requested

    return walk(system, mode_fields(system), WALK_STATES, float("inf"), report)


def findings_of(selection: Selection, request: Request, interruption: Interruption) -> Findings:
    """Runs the checks that need no request."""
    results = tuple(explored(request, selection, interruption))
    return Findings(results, tuple(check.name for check in selection.left_out))


def shown(views: list[View], out: Path | None, check: str) -> list[str]:
    """The lines of the page that show the diagrams: a picture beside it, or text that many readers draw."""
    if not views:
        return []
    said = [f"{view.title.partition(':')[0]}: {view.footing}" for view in views]
    caption = f"At the settings of {code(check)}. {'; '.join(said)}."
    labels = [label for view in views for arrow in view.arrows for label in arrow.labels]
    if any(view.unseen for view in views) or any(label.seen is False for label in labels):
        caption += f" {LIMITS}"
    if out is None:
        return ["```mermaid", mermaid(views).rstrip("\n"), "```", "", caption]
    titles = ", ".join(view.title for view in views)
    return [f"![State diagram of {titles}]({out.with_suffix('.svg').name})", "", caption]


def compared(pairs: list[tuple[Path, str | None]]) -> ExitCode:
    """Whether files hold what they would be given; the first lines that differ are shown."""
    differs = False
    for path, content in pairs:
        try:
            before = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: cannot be read: {error}") from None
        if before == (content or ""):
            continue
        differs = True
        print(f"{path} is not what its spec says now")
        changed = difflib.unified_diff(before.splitlines(), (content or "").splitlines(), "now", "to be", lineterm="")
        for line in list(changed)[:DIFFERENCES]:
            print(f"  {line[:160]}")
    return ExitCode.NOT_AS_EXPECTED if differs else ExitCode.AS_EXPECTED
