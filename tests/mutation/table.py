"""What became of the mutants of a session: a table by folder, and the survivors with what is known of them.

`reviewed.toml` has a reviewed survivor as the line before and after the change, so that it is recognised wherever the
line moves: `python -m tests.mutation.table SESSION` prints the table for `docs/quality.md`.
"""

from __future__ import annotations

import sqlite3
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REVIEWED = Path(__file__).with_name("reviewed.toml")
VERDICTS = ("equivalent", "speed", "words", "elsewhere", "hole", "open")
"""It does the same; the same with slower or larger code; only words differ; a test besides the cases notices; no test
noticed, and the entry says which one does now; looked at, and not decided."""


@dataclass(frozen=True)
class Mutant:
    """A change of a line, and what became of it."""

    path: str
    line: int
    before: str
    after: str
    outcome: str

    @property
    def key(self) -> tuple[str, str, str]:
        """By what it is known again."""
        return self.path, self.before, self.after


def mutants(session: Path) -> Iterator[Mutant]:
    """Those of a session that were tried."""
    with sqlite3.connect(f"file:{session}?mode=ro", uri=True) as database:
        rows = database.execute(
            "select module_path, start_pos_row, diff, output from work_results join mutation_specs using (job_id)"
        )
        for path, line, diff, output in rows:
            changed = [one for one in diff.splitlines() if one[:1] in "+-" and one[:3] not in ("+++", "---")]
            parts = [" ".join(" ".join(one[1:] for one in changed if one[0] == sign).split()) for sign in "-+"]
            yield Mutant(path, line, parts[0], parts[1], output.strip())


def reviewed() -> dict[tuple[str, str, str], tuple[str, str]]:
    """The verdict on each reviewed survivor, and why."""
    content = tomllib.loads(REVIEWED.read_text(encoding="utf-8"))
    return {(one["path"], one["before"], one["after"]): (one["verdict"], one["why"]) for one in content["mutant"]}


def report(session: Path) -> int:
    """Prints the table and what is not reviewed; how many are not."""
    known = reviewed()
    counts: dict[str, Counter[str]] = {}
    unreviewed = []
    for one in sorted(mutants(session), key=lambda mutant: (mutant.path, mutant.line)):
        row = counts.setdefault(str(Path(one.path).parent), Counter())
        row["mutants"] += 1
        if one.outcome.startswith("killed"):
            row["noticed"] += 1
        elif one.key in known:
            row[known[one.key][0]] += 1
        else:
            row["not reviewed"] += 1
            unreviewed.append(one)
    columns = ("mutants", "noticed", *VERDICTS, "not reviewed")
    print("| folder | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for folder, row in sorted(counts.items()):
        print(f"| `{folder}` | " + " | ".join(str(row[column]) for column in columns) + " |")
    for one in unreviewed:
        print(f"\n{one.path}:{one.line}: {one.outcome}\n-{one.before}\n+{one.after}")
    return bool(unreviewed)


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1])))
