"""Artemis with a lock manager, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (61_154, 328_690, 66),
        reached={"failover": 17, "failback": 18},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "both_primaries": Found(
        (5_306, 23_434, 27),
        reached={"failover": 7, "failback": 19},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "no_failback": Found(
        (3_099, 13_498, 32),
        violated={"failback_completes": 26},
        reached={"failover": 17, "failback": 19},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves",
    ),
    "cut": Found(
        (6_366, 31_758, 45),
        reached={"failover": 17, "failback": 18},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "manager_cut": Found(
        (9_087, 42_439, 58),
        reached={"failover": 17, "failback": 19},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "late_notice": Found(
        (22_439, 101_534, 69),
        violated={
            "p1_one_serving": 18,
            "p2_acked_survives": 19,
            "p4_no_stale_copy_serves": 25,
            "p5_only_copy_never_erased": 30,
            "p12_serving_holds_lock": 7,
            "p14_failback_loses_nothing": 26,
            "newest_number_newest_data": 21,
        },
        reached={"failover": 17, "failback": 19},
        holds="p3_no_incomplete_copy_serves p6_exactly_once p9_replica_equals_after_quiesce p10_someone_serves "
        "failback_completes",
    ),
    "pause": Found(
        (30_677, 134_669, 65),
        violated={
            "p1_one_serving": 16,
            "p2_acked_survives": 17,
            "p4_no_stale_copy_serves": 23,
            "p5_only_copy_never_erased": 27,
            "p12_serving_holds_lock": 7,
            "p14_failback_loses_nothing": 26,
            "newest_number_newest_data": 19,
        },
        reached={"failover": 17, "failback": 18},
        holds="p3_no_incomplete_copy_serves p6_exactly_once p9_replica_equals_after_quiesce "
        "p10_someone_serves failback_completes",
    ),
    "pause_mended": Found(
        (30_321, 133_696, 65),
        violated={
            "p1_one_serving": 16,
            "p2_acked_survives": 17,
            "p12_serving_holds_lock": 7,
            "p14_failback_loses_nothing": 28,
        },
        reached={"failover": 17, "failback": 18},
        holds="p3_no_incomplete_copy_serves p4_no_stale_copy_serves p5_only_copy_never_erased "
        "p6_exactly_once p9_replica_equals_after_quiesce newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "in_doubt": Found(
        (35_444, 184_637, 64),
        reached={"failover": 17, "failback": 17},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "in_doubt_no_id": Found(
        (46_473, 226_072, 64),
        violated={"p6_exactly_once": 7},
        holds="p2_acked_survives p5_only_copy_never_erased",
    ),
    "manager_forgets": Found(
        (6_767, 31_641, 44),
        violated={"p10_someone_serves": 14},
        reached={"failover": 17, "failback": 29},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "failback_completes",
    ),
    "operator": Found(
        (11_816, 54_599, 59),
        reached={"failover": 17, "failback": 22},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "p10_someone_serves failback_completes",
    ),
    "lock_only": Found(
        (128, 502, 12),
        violated={"p2_acked_survives": 9, "p4_no_stale_copy_serves": 9},
        holds="p1_one_serving p5_only_copy_never_erased p12_serving_holds_lock",
    ),
    "claim_not_repaired": Found(
        (4_113, 18_192, 61),
        violated={"p10_someone_serves": 11},
        reached={"failover": 17, "failback": 20},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p9_replica_equals_after_quiesce "
        "p12_serving_holds_lock p14_failback_loses_nothing newest_number_newest_data "
        "failback_completes",
    ),
    "gap_repaired": Found(
        (16_073, 70_825, 76),
        violated={"p2_acked_survives": 30, "p4_no_stale_copy_serves": 30, "newest_number_newest_data": 26},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "identity_forgotten": Found(
        (923, 4_069, 38),
        violated={
            "p1_one_serving": 9,
            "p2_acked_survives": 10,
            "p4_no_stale_copy_serves": 10,
            "p12_serving_holds_lock": 4,
        },
        holds="p5_only_copy_never_erased",
    ),
    "silent_listeners": Found(
        (10_941, 47_354, 45),
        violated={"p1_one_serving": 17, "p2_acked_survives": 18, "p12_serving_holds_lock": 7},
        holds="p4_no_stale_copy_serves p5_only_copy_never_erased newest_number_newest_data",
    ),
    "acks_before_claim": Found(
        (3_599, 14_669, 56),
        violated={"p2_acked_survives": 19, "p4_no_stale_copy_serves": 19, "newest_number_newest_data": 12},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "lost_end_of_sync": Found(
        (22_495, 111_219, 59),
        violated={"p2_acked_survives": 17, "p4_no_stale_copy_serves": 17, "newest_number_newest_data": 9},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "slow_replica": Found(
        (7_103, 27_107, 56),
        violated={"p2_acked_survives": 17, "p4_no_stale_copy_serves": 17, "p9_replica_equals_after_quiesce": 9},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "unsynced": Found(
        (4_256, 18_139, 56),
        violated={"p3_no_incomplete_copy_serves": 9},
        reached={"failover": 17, "failback": 19},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p5_only_copy_never_erased "
        "p6_exactly_once p9_replica_equals_after_quiesce p12_serving_holds_lock "
        "p14_failback_loses_nothing newest_number_newest_data p10_someone_serves failback_completes",
    ),
    "commits_before_writing": Found(
        (6_305, 28_041, 55),
        violated={"p10_someone_serves": 12},
        holds="p1_one_serving p4_no_stale_copy_serves p12_serving_holds_lock",
    ),
}

TABLE = Table("artemis_lock_manager", PINNED)
