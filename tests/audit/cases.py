"""Configurations with what was reported of them, or what a manual says of them, and what an audit finds.

`tests/data/audit/NAME` has a folder of files for each host, and `case.toml`:

- `title`, `product`, `version` (where it is known), `source`, `reported`, `mend`, `notes`;
- `kind`: `misconfiguration` or `recommended`;
- `findings`: what an audit has to find, each of a `kind`, with the settings that make it possible as `FILE:PATH`, where
  PATH is the end of a path;
- `safe_from`: of a recommended one, the kinds of findings that would be false alarms; `admits`: those that its manual
  itself admits;
- `open`: why the outcome depends on what no file says; `unnamed`: why the settings are not named; `missed`: why the
  audit does not find what was reported, or finds what it should not.

`python -m tests.audit.cases` writes the table in `docs/audit.md` anew; names of cases after it: their rows only.
"""

from __future__ import annotations

import re
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, convert

from hacheck.audit.audit import Audit, AuditRequest, audit
from hacheck.audit.configuration import SettingValue
from hacheck.audit.reader import FindingKind, shipped_readers

CASES = Path(__file__).parents[1] / "data" / "audit"
PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
BEGIN, END = "<!-- cases: begin -->", "<!-- cases: end -->"


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that is wanted, and the settings that make it possible."""

    kind: FindingKind
    settings: tuple[str, ...]


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration with what was reported of it."""

    title: str
    product: str
    kind: str
    source: str
    reported: str
    version: str = ""
    mend: str = ""
    notes: str = ""
    open: str = ""
    unnamed: str = ""
    missed: str = ""
    safe_from: tuple[FindingKind, ...] = ()
    admits: tuple[FindingKind, ...] = ()
    findings: tuple[Expected, ...] = ()

    @property
    def is_readable(self) -> bool:
        """Whether there is a reader for the product."""
        return reader_of(self) in shipped_readers()


def reader_of(case: Case) -> str:
    """The reader that is to read the files."""
    return case.product


def case_names() -> list[str]:
    """The names of all cases."""
    return sorted(path.parent.name for path in CASES.glob("*/case.toml"))


def load_case(name: str) -> Case:
    """A case by its name."""
    return convert(tomllib.loads((CASES / name / "case.toml").read_text(encoding="utf-8")), Case)


def audited(name: str, case: Case, *, search: bool) -> Audit:
    """What an audit of all files of a case finds. `search`: for a change that helps, and so for what to blame."""
    paths = tuple(str(path) for path in sorted((CASES / name).iterdir()) if path.name != "case.toml")
    version = f"@{case.version}" if case.version else ""
    return audit(AuditRequest(paths, f"{reader_of(case)}{version}", search=search))


def missing(case: Case, found: Audit) -> list[str]:
    """The kinds that were reported, and that no finding is of."""
    kinds = [one.kind for one in found.findings]
    return [one.kind for one in case.findings if one.kind not in kinds]


def false_alarms(case: Case, found: Audit) -> list[str]:
    """The kinds of findings from which the configuration is said to be safe."""
    return sorted({one.kind for one in found.findings if one.kind in case.safe_from})


def unnamed(name: str, case: Case, found: Audit) -> list[str]:
    """The findings that are there, but none of whose reported settings is named."""
    left = []
    for wanted in case.findings:
        causes = [cause for one in found.findings if one.kind == wanted.kind for cause in one.causes]
        if not any(_is_at(setting, cause, CASES / name) for setting in wanted.settings for cause in causes):
            left.append(f"{wanted.kind}: {', '.join(wanted.settings)}")
    return left


def _is_at(setting: str, cause: SettingValue, folder: Path) -> bool:
    file, _, path = setting.partition(":")
    return Path(cause.file) == folder / file and f"/{cause.path}/".find("/" + path.replace(" ", "/") + "/") >= 0


# ---- the table ----


def row(name: str) -> str:
    """A row of the table: measured now."""
    case = load_case(name)
    if not case.is_readable:
        return f"| {name} | {case.title} | no reader yet | | |"
    begun = time.process_time()
    found = audited(name, case, search=True)
    seconds = time.process_time() - begun
    kinds = ", ".join(sorted({one.kind for one in found.findings})) or "nothing in this scope"
    wrong = [f"lacks {one}" for one in missing(case, found)]
    wrong += [f"false alarm: {one}" for one in false_alarms(case, found)]
    right = "; ".join(wrong) or ("right, settings not named" if unnamed(name, case, found) else "right")
    return f"| {name} | {case.title} | {kinds} | {right} | {seconds:.1f} |"


def kept_rows() -> dict[str, str]:
    """The rows that the page has now, by case."""
    text = PAGE.read_text(encoding="utf-8")
    shown = text[text.index(BEGIN) : text.index(END)]
    return {line.split("|")[1].strip(): line for line in shown.splitlines() if line.startswith("| ")}


def table(names: Iterable[str], anew: Iterable[str] = ()) -> str:
    """Two tables, of what was reported and of what is recommended. `anew`: the cases to audit again, by default all."""
    names, kept = list(names), kept_rows()
    again = set(anew) or set(names)
    parts = []
    for kind, heading in (("misconfiguration", "Reported as going wrong"), ("recommended", "Recommended by manuals")):
        of_kind = [name for name in names if load_case(name).kind == kind]
        rows = [row(name) if name in again or name not in kept else kept[name] for name in of_kind]
        head = f"**{heading}**\n\n| case | what | the audit finds | | CPU s |\n|---|---|---|---|---|\n"
        parts.append(head + "\n".join(rows))
    return "\n\n".join(parts)


def main() -> None:
    """Writes the table anew, or only the rows of the cases that the command line names."""
    made = f"{BEGIN}\n\n{table(case_names(), sys.argv[1:])}\n\n{END}"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: made, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
