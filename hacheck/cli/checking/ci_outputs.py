"""What `hacheck verify` writes for CI systems, and the baseline that it compares with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.json_output import Target, open_target

if TYPE_CHECKING:
    from hacheck.documents.verify import VerifyDocument


class Ci(Struct, frozen=True):
    """What the command line says about CI systems: files to write, the system to annotate for, the baseline to read."""

    junit: str | None = None
    sarif: str | None = None
    annotations: str | None = None
    baseline: str | None = None


class CiOutputs(Struct, frozen=True):
    """The outputs that were requested; `known`: check and property of what the baseline has."""

    junit: Target | None
    sarif: Target | None
    annotates: bool
    known: frozenset[tuple[str, str]] | None

    @property
    def targets(self) -> tuple[Target | None, ...]:
        """Where something is written."""
        return self.junit, self.sarif

    @property
    def is_wanted(self) -> bool:
        """Whether anything was requested."""
        return self.annotates or self.known is not None or any(one is not None for one in self.targets)

    def written(self, document: VerifyDocument, code: ExitCode, *, to_stderr: bool) -> ExitCode:
        """Writes everything; `to_stderr`: standard output has another output. Returns the exit code, for which what the
        baseline has does not count."""
        if not self.is_wanted:
            return code
        from hacheck.api import ci_reports

        known = self.known or frozenset()
        if self.junit is not None:
            self.junit.save(ci_reports.junit(document, known))
        if self.sarif is not None:
            self.sarif.save(ci_reports.sarif(document, known))
        if self.annotates:
            (sys.stderr if to_stderr else sys.stdout).write(ci_reports.github_annotations(document, known))
        if code != ExitCode.NOT_AS_EXPECTED or self.known is None or ci_reports.has_news(document, known):
            return code
        return ExitCode.AS_EXPECTED


def ci_outputs(wanted: Ci) -> CiOutputs:
    """What was requested. Errors: `BadInput` for what cannot be written, a baseline that is none, or another system."""
    if wanted.annotations not in (None, "github"):
        raise BadInput(f"--annotations {wanted.annotations}: not known", "write --annotations github")
    junit = None if wanted.junit is None else open_target(wanted.junit)
    sarif = None if wanted.sarif is None else open_target(wanted.sarif)
    return CiOutputs(junit, sarif, wanted.annotations is not None, _baseline(wanted.baseline))


def _baseline(place: str | None) -> frozenset[tuple[str, str]] | None:
    if place is None:
        return None
    from hacheck.api.ci_reports import known_results

    hint = "make one with hacheck verify SPEC --json FILE"
    try:
        return known_results(Path(place).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"--baseline {place}: cannot be read: {error.strerror}", hint) from None
    except ValueError as error:
        raise BadInput(f"--baseline {place}: {error}", hint) from None
