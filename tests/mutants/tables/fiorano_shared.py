"""Fiorano's shared mode, and what breaks it: every check finds exactly what is pinned here, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (24_660, 186_336, 18),
        reached={"failover": 4, "comes_back_passive": 3, "standby_follows_lock": 4},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock only_the_active_writes "
        "nothing_without_database p10_someone_serves p11_recovering_ends active_finds_its_peer "
        "durable_connection_delivers",
    ),
    "delivers": Found(
        (24_384, 163_916, 17),
        reached={"failover": 4},
        holds="p10_someone_serves p11_recovering_ends durable_connection_delivers",
    ),
    "one_address": Found(
        (31, 126, 4),
        violated={"durable_connection_delivers": 8},
        holds="p10_someone_serves",
    ),
    "pause": Found(
        (496, 2_394, 10),
        holds="p1_one_serving p2_acked_survives p9_replica_equals_after_quiesce p12_serving_holds_lock "
        "only_the_active_writes p10_someone_serves",
    ),
    "in_doubt": Found(
        (54, 288, 6),
        violated={"p6_exactly_once": 4},
        holds="p2_acked_survives p5_only_copy_never_erased",
    ),
    "late_write": Found(
        (23_257, 120_774, 32),
        violated={"p3_no_incomplete_copy_serves": 13, "p6_exactly_once": 16, "only_the_active_writes": 12},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p5_only_copy_never_erased "
        "p8_standby_never_serves p12_serving_holds_lock",
    ),
    "late_write_fenced": Found(
        (19_856, 104_448, 33),
        violated={"p6_exactly_once": 16},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p8_standby_never_serves p12_serving_holds_lock "
        "only_the_active_writes",
    ),
    "no_lock_file": Found(
        (20, 60, 5),
        violated={
            "p1_one_serving": 4,
            "p2_acked_survives": 5,
            "p9_replica_equals_after_quiesce": 5,
            "p12_serving_holds_lock": 2,
            "only_the_active_writes": 5,
        },
    ),
    "lock_expires": Found(
        (98, 462, 7),
        violated={
            "p1_one_serving": 5,
            "p2_acked_survives": 6,
            "p9_replica_equals_after_quiesce": 6,
            "p12_serving_holds_lock": 3,
            "only_the_active_writes": 6,
        },
        holds="p5_only_copy_never_erased",
    ),
    "lock_expires_fenced": Found(
        (100, 472, 9),
        violated={"p1_one_serving": 5, "p12_serving_holds_lock": 3},
        holds="p4_no_stale_copy_serves p5_only_copy_never_erased only_the_active_writes",
    ),
    "only_broken_link_counts": Found(
        (100, 430, 8),
        violated={"p10_someone_serves": 7},
        holds="p1_one_serving",
    ),
    "database_away": Found(
        (1_332, 5_812, 12),
        violated={
            "p2_acked_survives": 8,
            "p3_no_incomplete_copy_serves": 8,
            "p4_no_stale_copy_serves": 8,
            "p5_only_copy_never_erased": 4,
            "only_the_active_writes": 9,
        },
        holds="p1_one_serving",
    ),
    "waits_for_database": Found(
        (52, 244, 6),
        violated={"p11_recovering_ends": 6},
        holds="p2_acked_survives only_the_active_writes",
    ),
    "activating_accepts": Found(
        (21, 80, 4),
        violated={"p8_standby_never_serves": 2},
    ),
    "peer_returns": Found(
        (640, 3_602, 13),
        holds="p1_one_serving p10_someone_serves active_finds_its_peer",
    ),
    "tries_once": Found(
        (144, 654, 9),
        violated={"active_finds_its_peer": 8},
        holds="p1_one_serving p10_someone_serves",
    ),
    "database_lost": Found(
        (922, 4_372, 15),
        violated={
            "p2_acked_survives": 9,
            "p4_no_stale_copy_serves": 9,
            "p5_only_copy_never_erased": 4,
            "p9_replica_equals_after_quiesce": 4,
        },
        holds="p1_one_serving p3_no_incomplete_copy_serves p12_serving_holds_lock only_the_active_writes "
        "p10_someone_serves",
    ),
    "database_copied": Found(
        (1_735, 9_057, 16),
        violated={
            "p2_acked_survives": 9,
            "p4_no_stale_copy_serves": 9,
            "p5_only_copy_never_erased": 4,
            "p9_replica_equals_after_quiesce": 4,
        },
        holds="p1_one_serving p3_no_incomplete_copy_serves p12_serving_holds_lock only_the_active_writes "
        "p10_someone_serves",
    ),
    "database_mirrored": Found(
        (831, 4_348, 14),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce p12_serving_holds_lock "
        "only_the_active_writes nothing_without_database p10_someone_serves",
    ),
    "database_away_for_all": Found(
        (67, 270, 6),
        violated={"p5_only_copy_never_erased": 4, "nothing_without_database": 3},
        holds="p1_one_serving p3_no_incomplete_copy_serves",
    ),
}

TABLE = Table("fiorano_shared", PINNED)
