"""A run as a picture: its diagram, the part of the property that it breaks, and its story."""

from __future__ import annotations

from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from hacheck.checker.blame.blamed import Blamed
from hacheck.checker.pictures.glyphs import ASCII, UNICODE
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.page.report_data import blame_of
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run


class RunPicture(Struct, frozen=True):
    """A view drawn as wide as there is room, in ASCII where there is no more. No line is longer than that."""

    reader: ViewReader

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        glyphs = ASCII if options.ascii_only else UNICODE
        for line in picture_lines(self.reader, options.max_width, glyphs):
            yield from Text.assemble(*line.spans()).render(console, end="")
            yield Segment.line()


def run_picture(system: System, run: Run, about: Property | None, blamed: Blamed | None = None) -> RunPicture:
    """The picture of a run. `about`: the property that the run decides; `blamed`: what it needs, if that was tried."""
    view = Views(system, {}).view(run, about).to_json()
    if blamed is not None:
        view = {**view, **blame_of(blamed, view["story"])}
    return RunPicture(ViewReader(view))
