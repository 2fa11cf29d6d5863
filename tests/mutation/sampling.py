"""Leaves a random sample of mutants in a session of cosmic-ray, in random order: `sampling.py SESSION --most 300`.

Run it in the folder whose files are mutated. Annotations are left out: nothing reads them. Of each place in a file one
mutant is taken. `SESSION.json` has how many there were. (It speaks SQL: of twenty thousand mutants cosmic-ray's own
objects take minutes to load.)
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

Place: TypeAlias = tuple[int, int]


def annotations(path: Path) -> Iterator[tuple[Place, Place]]:  # type: ignore[no-redef]
    """Where annotations and other types begin and end in a file; columns count characters, as cosmic-ray has them."""
    lines = path.read_text(encoding="utf-8").splitlines()

    def place(line: int, column: int) -> Place:
        return line, len(lines[line - 1].encode()[:column].decode())

    for node in ast.walk(ast.parse("\n".join(lines))):
        for one in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(one, ast.expr) and one.end_lineno is not None and one.end_col_offset is not None:
                yield place(one.lineno, one.col_offset), place(one.end_lineno, one.end_col_offset)


def sample(database: sqlite3.Connection, most: int, seed: int) -> dict[str, Any]:
    """Leaves a sample in a session; how many mutants there were."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    known: dict[str, list[tuple[Place, Place]]] = {}
    places: dict[tuple[str, Place], list[tuple[Any, ...]]] = {}
    for row in database.execute("select * from mutation_specs"):
        path, begin, end = row[0], (row[4], row[5]), (row[6], row[7])
        if path not in known:
            known[path] = list(annotations(Path(path)))  # type: ignore[operator]
        if any(first <= begin and end <= last for first, last in known[path]):
            continue
        counts[path] += 1
        places.setdefault((path, begin), []).append(row)
    chosen = [chance.choice(rows) for rows in places.values()]
    chance.shuffle(chosen)
    chosen = chosen[:most]
    for table in ("work_results", "mutation_specs", "work_items"):
        database.execute(f"delete from {table}")
    database.executemany("insert into work_items values (?)", [(row[-1],) for row in chosen])
    database.executemany(f"insert into mutation_specs values ({','.join('?' * 10)})", chosen)
    database.commit()
    return {"mutants": sum(counts.values()), "places": len(places), "chosen": len(chosen), "by_file": counts}


def main() -> None:
    """Takes the sample."""
    parser = argparse.ArgumentParser()
    parser.add_argument("session")
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with sqlite3.connect(given.session) as database:
        content = sample(database, given.most, given.seed)
    Path(f"{given.session}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    print(f"{content['mutants']:,} mutants at {content['places']:,} places, {content['chosen']:,} chosen")


if __name__ == "__main__":
    main()
