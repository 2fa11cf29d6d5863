"""Qpid high availability, and what breaks it: every check finds exactly what is pinned, at its shortest length.

A small check is explored in full, every state of it; a large one with reductions, as `hacheck verify` does, and some of
the small ones once more so. The table also has the near-misses: what must hold although something like it breaks.
Checks that run by request are left out.

Known defects: `joining_promoted` and `slow_backup` (a broker that has nothing is promoted), `catchup_promoted` (and so
of another broker: a mirror that is not synchronised), `position_only` (stuck in catching up), `no_queue_left` and
`queues_only` (never active without queues), `queues_by_name` (same name, other queue), `late_response` and
`replaced_queue` (events against responses), `catchup_on_connect`, `forgotten_message` (missing completion),
`first_store_wins` (cold start), `stale_ready`, `late_list` and `late_ready` (ready in its own eyes alone). The
same without the defect: `joining_refuses`, `pair`, `declared_again`, `recovers_without_queue`, `mended`, `mended_list`,
`mended_late_ready`, `mended_stores`.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (414_055, 2_537_934, 40),
        violated={"p6_exactly_once": 16, "p10_after_total_failure": 15, "taken_again": None},
        reached={"all_ready": 18, "failover": 8, "held": 8, "sent_again": 16},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased duplicates_only_in_doubt p8_standby_never_serves "
        "p9_replica_equals_after_quiesce ready_means_safe_or_delayed acknowledged_by_all_backups "
        "p10_someone_serves p11_recovering_ends p11_senders_are_answered backups_become_ready",
    ),
    "two_crashes": Found(
        (779_400, 5_167_194, 62),
        reached={"held": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce ready_means_safe_or_delayed "
        "acknowledged_by_all_backups",
    ),
    "pair": Found(
        (360_398, 1_746_705, 53),
        violated={"p6_exactly_once": 15, "p10_after_total_failure": 11},
        reached={"failover": 7, "sent_again": 15, "taken_again": 10},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased duplicates_only_in_doubt p8_standby_never_serves "
        "p9_replica_equals_after_quiesce ready_means_safe_or_delayed acknowledged_by_all_backups "
        "p10_someone_serves p11_senders_are_answered backups_become_ready",
    ),
    "declared_again": Found(
        (99_983, 535_210, 28),
        holds="p2_acked_survives p6_exactly_once duplicates_only_in_doubt p9_replica_equals_after_quiesce "
        "ready_means_safe_or_delayed acknowledged_by_all_backups p10_someone_serves "
        "p11_senders_are_answered backups_become_ready",
    ),
    "in_doubt": Found(
        (5_498, 24_186, 22),
        violated={"p6_exactly_once": 8},
        holds="p2_acked_survives duplicates_only_in_doubt p11_senders_are_answered",
    ),
    "stalled_backup": Found(
        (5_102, 19_782, 24),
        holds="p1_one_serving p2_acked_survives acknowledged_by_all_backups p11_senders_are_answered",
    ),
    "split_calls": Found(
        (310_486, 1_725_154, 53),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce ready_means_safe_or_delayed "
        "acknowledged_by_all_backups",
    ),
    "stale_ready": Found(
        (18_612, 80_326, 36),
        violated={"p2_acked_survives": 10, "p3_no_incomplete_copy_serves": 7},
        holds="p1_one_serving p8_standby_never_serves",
    ),
    "late_list": Found(
        (1_104_736, 7_200_828, 62),
        violated={"p2_acked_survives": 12, "p4_no_stale_copy_serves": 19},
    ),
    "late_ready": Found(
        (184_335, 1_072_954, 58),
        violated={"p2_acked_survives": 13, "p3_no_incomplete_copy_serves": 9},
        holds="p9_replica_equals_after_quiesce acknowledged_by_all_backups",
    ),
    "slow_backup": Found(
        (40_458, 174_698, 40),
        violated={"p2_acked_survives": 11, "p3_no_incomplete_copy_serves": 7, "p4_no_stale_copy_serves": 15},
        holds="p1_one_serving",
    ),
    "split_brain": Found(
        (158, 572, 14),
        violated={"p1_one_serving": 4, "p2_acked_survives": 7},
    ),
    "mended": Found(
        (102_289, 509_181, 49),
        reached={"failover": 7, "held": 6},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce ready_means_safe_or_delayed "
        "acknowledged_by_all_backups p10_someone_serves p11_recovering_ends",
    ),
    "mended_list": Found(
        (835_161, 5_498_868, 61),
        reached={"failover": 10, "held": 7},
        holds="p2_acked_survives p4_no_stale_copy_serves",
    ),
    "mended_late_ready": Found(
        (142_821, 808_016, 55),
        holds="p2_acked_survives p3_no_incomplete_copy_serves p9_replica_equals_after_quiesce "
        "acknowledged_by_all_backups",
    ),
    "mended_stores": Found(
        (20_290, 82_808, 35),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce",
    ),
    "mended_stores_three_crashes": Found(
        (70_196, 308_064, 40),
        violated={"p4_no_stale_copy_serves": 21, "p5_only_copy_never_erased": 24},
    ),
    "joining_promoted": Found(
        (2_652, 9_802, 25),
        violated={
            "p2_acked_survives": 14,
            "p3_no_incomplete_copy_serves": 6,
            "p4_no_stale_copy_serves": 14,
            "p5_only_copy_never_erased": 17,
        },
    ),
    "catchup_promoted": Found(
        (2_128, 8_006, 24),
        violated={"p2_acked_survives": 8, "p3_no_incomplete_copy_serves": 7},
    ),
    "joining_refuses": Found(
        (1_934, 7_442, 25),
        holds="p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves p5_only_copy_never_erased",
    ),
    "position_only": Found(
        (361, 1_378, 14),
        violated={"backups_become_ready": 13},
        holds="p11_senders_are_answered",
    ),
    "queues_only": Found(
        (109, 370, 11),
        violated={"backups_become_ready": 6},
        holds="p11_senders_are_answered",
    ),
    "recovers_without_queue": Found(
        (2_070_004, 14_674_800, 44),
        holds="p11_recovering_ends",
    ),
    "no_queue_left": Found(
        (628_933, 4_010_340, 50),
        violated={"p11_recovering_ends": 26},
    ),
    "queues_by_name": Found(
        (19_133, 93_196, 25),
        violated={"p9_replica_equals_after_quiesce": 20, "acknowledged_by_all_backups": 23},
    ),
    "late_response": Found(
        (309, 1_246, 12),
        violated={"p9_replica_equals_after_quiesce": 8},
        holds="p11_senders_are_answered",
    ),
    "replaced_queue": Found(
        (1_151, 5_228, 16),
        violated={"p11_senders_are_answered": 13},
        holds="p9_replica_equals_after_quiesce",
    ),
    "catchup_on_connect": Found(
        (108, 376, 11),
        violated={"p10_someone_serves": 7},
    ),
    "forgotten_message": Found(
        (797, 3_536, 15),
        violated={"p11_senders_are_answered": 11},
        holds="p2_acked_survives",
    ),
    "first_store_wins": Found(
        (16_646, 69_020, 31),
        violated={"p4_no_stale_copy_serves": 7, "p5_only_copy_never_erased": 10},
        holds="p1_one_serving",
    ),
    "position_first": Found(
        (9_509, 39_738, 29),
        violated={"p2_acked_survives": 15, "ready_means_safe_or_delayed": 10, "acknowledged_by_all_backups": 13},
    ),
    "snapshot_first": Found(
        (5_491, 23_200, 24),
        violated={"p9_replica_equals_after_quiesce": 20},
        holds="p2_acked_survives",
    ),
    "early_acknowledgement": Found(
        (2_286, 8_720, 25),
        violated={"p2_acked_survives": 8, "acknowledged_by_all_backups": 6},
    ),
    "backup_accepts": Found(
        (261, 822, 12),
        violated={"p2_acked_survives": 4, "p8_standby_never_serves": 2, "p9_replica_equals_after_quiesce": 6},
    ),
    "ids_start_over": Found(
        (9_137, 38_128, 29),
        violated={"p2_acked_survives": 16, "ready_means_safe_or_delayed": 21},
    ),
    "snapshots_ignored": Found(
        (1_619, 6_062, 22),
        violated={"duplicates_only_in_doubt": 18, "p9_replica_equals_after_quiesce": 18},
        holds="p6_exactly_once",
    ),
    "expected_not_guarded": Found(
        (997_853, 6_549_065, 62),
        violated={"p2_acked_survives": 16, "p4_no_stale_copy_serves": 23, "acknowledged_by_all_backups": 14},
    ),
}

LARGE = (
    "default",
    "two_crashes",
    "pair",
    "split_calls",
    "late_list",
    "late_ready",
    "mended",
    "mended_list",
    "mended_late_ready",
    "recovers_without_queue",
    "no_queue_left",
    "expected_not_guarded",
)
"""Explored with reductions only; their numbers are those of the states explored then."""

TABLE = Table(
    "qpid_ha",
    PINNED,
    portable_max=3_000,  # well under a second; there are many checks
    only_reduced=LARGE,
    # Of those explored in full one of each kind: faults of links, stores, a changed rule, no fault at all.
    once_more=("stale_ready", "mended_stores", "position_first", "late_response"),
    unreached={"taken_again": "`default` has no consumer, and deletes no queue"},
)
