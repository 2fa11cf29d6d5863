"""Carries counterexamples out on real products and writes the table of `docs/truth.md`.

    python bench/truth.py --repeat 20 --recordings DIR
    python bench/truth.py --repeat 3 --product artemis-replication --check paused
    python bench/truth.py --recordings DIR --recorded

Each row is one run of a check, carried out so many times: what came of it, how often, and where it was recorded. A
product that is not installed leaves its rows as they are in the page.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hacheck.atomic_files import replace_text

PAGE = Path(__file__).parents[1] / "docs" / "truth.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
HEAD = "| product | check | property | steps | outcome | rate | seconds | why |\n|---|---|---|---|---|---|---|---|\n"
WHY_MAX = 160

ICESTORM = (
    ("lost_by_overlap", "acknowledged_survives deposed_never_acknowledges served"),
    ("wedged", "reorganization_ends"),
    (
        "as_released",
        "acknowledged_survives acknowledged_is_stored deposed_never_acknowledges stamps_never_fall "
        "stamps_tell_databases_apart full_start_first served majority_serves highest_id_leads one_coordinator "
        "a_majority_serves one_view serving_replicas_agree reads_are_current",
    ),
    ("stamp_wiped", "acknowledged_survives"),
    ("rejection_taken_for_success", "acknowledged_survives"),
    ("idle_coordinator", "minority_steps_down"),
    ("pause", "acknowledged_survives"),
    ("default", "acknowledged_survives"),
    ("cut", "acknowledged_survives"),
    ("as_released replicas=5", "stamps_never_fall one_view"),
)
REPLICATION = (
    ("hardened_two_backups", "p1_one_serving"),
    ("outage_in_failback", "p3_no_incomplete_copy_serves"),
    ("both_down", "p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves"),
    ("one_pair", "p1_one_serving p2_acked_survives split_brain_ends"),
    ("one_pair cuts=0 pauses=1", "split_brain_ends"),
    ("one_pair_slow_replica", "p1_one_serving"),
    ("paused", "p1_one_serving p2_acked_survives healthy_goes_on"),
    ("one_fault", "pair_is_restored"),
    ("sync_unwatched", "p11_recovering_ends"),
    ("trusts_topology_two_backups", "p1_one_serving"),
    ("slow_replica_two_backups", "p2_acked_survives p4_no_stale_copy_serves in_sync_is_so"),
    ("default", "p1_one_serving p2_acked_survives p4_no_stale_copy_serves"),
    ("no_look", "p1_one_serving p4_no_stale_copy_serves"),
    ("small_quorum", "p1_one_serving"),
    ("spare", "returned_gets_its_place"),
    ("promoted", "p4_no_stale_copy_serves"),
)
SHARED_STORE = (
    ("failing_back_for_ever", "p10_someone_serves"),
    ("handed_over_for_ever", "hand_over_ends"),
    ("waiting_stop_pauses", "p10_someone_serves"),
    ("announces_by_probe", "failback_completes"),
    ("as_released", "p1_one_serving p2_acked_survives p10_someone_serves only_one_writes two_serving_ends"),
)
SCALE_DOWN = (
    ("crash_with_another_target", "one_place p10_messages_available"),
    ("back_and_forth", "p2_acked_survives p10_messages_available"),
    ("back_and_forth commits_at_end=on", "p2_acked_survives"),
    ("crash", "one_place p2_acked_survives order_kept p10_messages_available"),
    ("crash crashes=0", "one_place"),
    ("crash messages=3", "p2_acked_survives"),
    ("crash_at_the_end", "one_place"),
    ("default xa=off", "order_kept"),
    ("in_doubt_after_crash", "one_place"),
    ("backups_and_a_stop", "clients_come_back"),
)
ICESTORM_CANDIDATES = (
    ("as_released cuts=1", "unknown_outcome"),
    ("as_released pauses=1", "unknown_outcome"),
    ("as_released crashes=2", "unknown_outcome reorganization_ends"),
    ("smoke crashes=1", "full_start_first reads_are_current"),
    ("smoke pauses=1", "one_coordinator"),
    ("smoke cuts=1", "one_coordinator"),
    ("pause crashes=2", "minority_steps_down"),
)
REPLICATION_CANDIDATES = (
    ("default pauses=1", "healthy_goes_on p10_someone_serves"),
    ("default promotions=1", "p3_no_incomplete_copy_serves"),
    ("one_fault disk_losses=1", "p2_acked_survives"),
    ("one_crash isolations=1", "healthy_goes_on"),
    ("voter_down pairs=4", "healthy_goes_on"),
    ("one_pair_crash isolations=1", "p1_one_serving"),
    ("hardened quorum_size=1", "p3_no_incomplete_copy_serves"),
    ("one_crash crashes=2", "returned_gets_its_place"),
    ("default isolations=1", "p3_no_incomplete_copy_serves"),
)
SHARED_STORE_CANDIDATES = (("failover_on_shutdown patient_backup=off", "primary_has_priority"),)
SCALE_DOWN_CANDIDATES = (
    ("default xa=off crashes=1", "p10_messages_available"),
    ("in_doubt crashes=1", "one_place"),
    ("in_doubt client_crashes=1", "one_place"),
    ("at_once stops=2", "one_place"),
)
CHECKS = {
    ("icestorm", "icestorm"): (*ICESTORM, *ICESTORM_CANDIDATES),
    ("artemis-replication", "artemis_replication"): (*REPLICATION, *REPLICATION_CANDIDATES),
    ("artemis-shared-store", "artemis_shared_store"): (*SHARED_STORE, *SHARED_STORE_CANDIDATES),
    ("artemis-scale-down", "artemis_scale_down"): (*SCALE_DOWN, *SCALE_DOWN_CANDIDATES),
}
"""The candidates are what raising one limit refutes (docs/bounds.md): of each property the shortest run with each kind
of fault, as far as the plug-in has a row for it."""

RUNS = [
    (product, spec, check, claim)
    for (product, spec), checks in CHECKS.items()
    for check, claims in checks
    for claim in claims.split()
]
"""Product, spec, check with settings of its own, and property of each row."""


def main() -> int:
    """Carries out every run, and writes the page after each: what is done when it is interrupted stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20, help="how often each run is carried out")
    parser.add_argument("--recordings", type=Path, help="the folder for recordings; by default a temporary one")
    parser.add_argument("--product", choices=[product for product, _ in CHECKS], help="the rows of this product only")
    parser.add_argument("--check", help="the rows of this check only")
    parser.add_argument("--raised", action="store_true", help="only rows with settings of their own")
    parser.add_argument("--property", help="the rows of this property only")
    parser.add_argument(
        "--recorded", action="store_true", help="carry nothing out: the rows of what is in --recordings"
    )
    options = parser.parse_args()
    folder = options.recordings or Path(tempfile.mkdtemp(prefix="truth-"))
    folder.mkdir(parents=True, exist_ok=True)
    for product, spec, check, claim in RUNS:
        if options.product not in (None, product) or options.check not in (None, check.partition(" ")[0]):
            continue
        if options.property not in (None, claim) or (options.raised and " " not in check):
            continue
        place = folder / f"{product}-{check.replace(' ', '-')}-{claim}"
        found = recorded(place) if options.recorded else carried_out(product, spec, check, claim, options.repeat, place)
        if found is None:
            continue
        write(f"| {product} | {shown(check)} | `{claim}` |", row(product, check, claim, found["runs"]))
        print(product, check, claim, found["counts"], flush=True)
    return 0


def recorded(place: Path) -> Any:
    """What `hacheck replay` wrote; `None`, where it wrote nothing."""
    file = Path(f"{place}.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def carried_out(product: str, spec: str, check: str, claim: str, repeat: int, place: Path) -> Any:
    """What `hacheck replay` writes; `None`, where the product is missing."""
    name, *settings = check.split()
    words = ["replay", spec, "--check", name, "--property", claim, "--on", product, "--repeat", str(repeat), "-q"]
    words += [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "hacheck", *words, "--keep", str(place), "--json", f"{place}.json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode in (2, 4):
        print(f"not carried out: {ended.stderr.strip()}", file=sys.stderr)
        return None
    return recorded(place)


def row(product: str, check: str, claim: str, runs: list[Any]) -> str:
    """A line of the table."""
    (outcome, times), *_ = Counter(run["outcome"] for run in runs).most_common(1)
    if confirmed := sum(run["outcome"] == "confirmed" for run in runs):  # what came out once the product can do
        outcome, times = "confirmed", confirmed
    one = next(run for run in runs if run["outcome"] == outcome)
    at = f" at step {one['at_step']}, `{one['step']}`" if one["at_step"] else ""
    seconds = sorted(run["seconds"] for run in runs)[len(runs) // 2]
    why = "" if outcome == "confirmed" else shortened(one["reason"])
    cells = (product, shown(check), f"`{claim}`", str(one["steps_of_run"]), outcome.replace("_", " ") + at)
    return f"| {' | '.join(cells)} | {times} of {len(runs)} | {seconds:.0f} | {why} |\n"


def shown(check: str) -> str:
    """A check with its settings: `one_pair`, cuts = 0."""
    name, *settings = check.split()
    return ", ".join([f"`{name}`", *(setting.replace("=", " = ") for setting in settings)])


def shortened(reason: str) -> str:
    """A reason on one line of a table, without names that differ from time to time."""
    text = re.sub(r"(\b\d:)?\b[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}", "…", " ".join(reason.split())).replace("|", "/")
    return text if len(text) <= WHY_MAX else f"{text[:WHY_MAX]}…"


def write(key: str, line: str) -> None:
    """Puts a line into the table of the page, in the place of the one that begins with the same cells."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    lines = table.removeprefix(HEAD).splitlines(keepends=True)
    place = next((number for number, one in enumerate(lines) if one.startswith(key)), len(lines))
    lines[place : place + 1] = [line]
    replace_text(PAGE, f"{before}{BEGIN}{HEAD}{''.join(lines)}{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
