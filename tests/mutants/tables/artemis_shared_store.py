"""Artemis' shared store, and what breaks it: every check finds exactly what is pinned here, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (31_117, 163_255, 30),
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "two_backups": Found(
        (62_532, 371_766, 35),
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 11},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "mount": Found(
        (63_858, 346_534, 36),
        violated={"primary_has_priority": 15},
        reached={"failover": 9, "failback": 17, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive no_false_alarm p10_someone_serves p11_recovering_ends "
        "failback_completes hand_over_ends two_serving_ends",
    ),
    "late_monitor": Found(
        (180_742, 901_847, 50),
        violated={
            "p1_one_serving": 11,
            "p2_acked_survives": 12,
            "p9_replica_equals_after_quiesce": 12,
            "p12_serving_holds_lock": 7,
            "p14_failback_loses_nothing": 13,
            "only_one_writes": 13,
            "primary_has_priority": 15,
            "no_false_alarm": 14,
            "p10_someone_serves": 23,
        },
        reached={"failover": 9, "failback": 17, "next_backup_is_passive": 8},
        holds="p3_no_incomplete_copy_serves p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once "
        "p7_transaction_all_or_nothing p8_standby_never_serves one_passive clean_stop_keeps_backups_passive "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "impatient": Found(
        (12_608, 59_314, 28),
        violated={"primary_has_priority": 6},
        reached={"failover": 9, "failback": 15, "next_backup_is_passive": 7},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive no_false_alarm p10_someone_serves p11_recovering_ends "
        "failback_completes hand_over_ends two_serving_ends",
    ),
    "failover_on_shutdown": Found(
        (7_677, 35_204, 26),
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "stop_with_failover": Found(
        (1_865, 8_043, 38),
        reached={"failover": 11, "failback": 20, "next_backup_is_passive": 10},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing "
        "p8_standby_never_serves p9_replica_equals_after_quiesce p12_serving_holds_lock "
        "p14_failback_loses_nothing only_one_writes one_passive clean_stop_keeps_backups_passive "
        "primary_has_priority no_false_alarm p10_someone_serves p11_recovering_ends "
        "failback_completes hand_over_ends two_serving_ends",
    ),
    "failback_by_delay": Found(
        (7_831, 35_546, 27),
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "no_failback": Found(
        (1_125, 4_784, 18),
        violated={"failback_completes": 16, "failback": None},
        reached={"failover": 9, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends hand_over_ends two_serving_ends",
    ),
    "in_doubt": Found(
        (2_769, 14_736, 24),
        holds="p2_acked_survives p5_only_copy_never_erased p6_exactly_once",
    ),
    "in_doubt_no_id": Found(
        (3_204, 15_972, 24),
        violated={"p6_exactly_once": 7},
        holds="p2_acked_survives p5_only_copy_never_erased",
    ),
    "transactions": Found(
        (22_170, 91_168, 47),
        holds="p1_one_serving p7_transaction_all_or_nothing",
    ),
    "late_write": Found(
        (15_404, 63_069, 41),
        violated={"p3_no_incomplete_copy_serves": 18, "p6_exactly_once": 22, "only_one_writes": 17},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p5_only_copy_never_erased "
        "p8_standby_never_serves p12_serving_holds_lock p14_failback_loses_nothing",
    ),
    "pause": Found(
        (18_521, 74_462, 47),
        violated={
            "p1_one_serving": 11,
            "p2_acked_survives": 12,
            "p9_replica_equals_after_quiesce": 12,
            "p12_serving_holds_lock": 7,
            "p14_failback_loses_nothing": 13,
            "only_one_writes": 13,
            "primary_has_priority": 15,
            "no_false_alarm": 14,
        },
        reached={"failover": 9, "failback": 17, "next_backup_is_passive": 8},
        holds="p3_no_incomplete_copy_serves p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once "
        "p7_transaction_all_or_nothing p8_standby_never_serves one_passive clean_stop_keeps_backups_passive "
        "p10_someone_serves p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "hard_mount": Found(
        (2_082, 7_857, 38),
        violated={
            "p1_one_serving": 11,
            "p9_replica_equals_after_quiesce": 12,
            "p12_serving_holds_lock": 7,
            "p11_recovering_ends": 5,
        },
        holds="p5_only_copy_never_erased p10_someone_serves two_serving_ends",
    ),
    "lock_forgotten": Found(
        (1_430, 4_796, 36),
        violated={"p1_one_serving": 10, "p12_serving_holds_lock": 6},
        holds="p5_only_copy_never_erased p10_someone_serves two_serving_ends",
    ),
    "f_blinds_monitor": Found(
        (247_554, 1_298_128, 52),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7, "only_one_writes": 13, "two_serving_ends": 30},
        holds="p5_only_copy_never_erased p10_someone_serves",
    ),
    "leases": Found(
        (11_477, 57_678, 28),
        holds="p1_one_serving p2_acked_survives p5_only_copy_never_erased p12_serving_holds_lock "
        "p14_failback_loses_nothing only_one_writes no_false_alarm p10_someone_serves two_serving_ends",
    ),
    "leases_lapse": Found(
        (4_486, 19_365, 30),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7, "only_one_writes": 13},
        holds="p5_only_copy_never_erased no_false_alarm p10_someone_serves two_serving_ends",
    ),
    "no_monitor": Found(
        (3_350, 14_072, 25),
        violated={
            "p1_one_serving": 11,
            "p2_acked_survives": 12,
            "p12_serving_holds_lock": 7,
            "only_one_writes": 13,
            "two_serving_ends": 14,
        },
    ),
    "object_only": Found(
        (3_350, 14_984, 25),
        violated={
            "p1_one_serving": 11,
            "p2_acked_survives": 12,
            "p12_serving_holds_lock": 7,
            "only_one_writes": 13,
            "two_serving_ends": 16,
        },
    ),
    "state_only": Found(
        (1_864, 8_456, 25),
        holds="p1_one_serving p2_acked_survives p12_serving_holds_lock only_one_writes two_serving_ends",
    ),
    "state_only_hard": Found(
        (1_176, 5_041, 21),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7, "two_serving_ends": 16},
    ),
    "two_primaries": Found(
        (1_986, 8_406, 19),
        holds="p1_one_serving p2_acked_survives p12_serving_holds_lock only_one_writes p10_someone_serves",
    ),
    "no_lock": Found(
        (908, 2_312, 16),
        violated={"p1_one_serving": 8, "p2_acked_survives": 9, "p12_serving_holds_lock": 4, "only_one_writes": 9},
        holds="p10_someone_serves",
    ),
    "byte_cached": Found(
        (21_675, 109_843, 41),
        violated={
            "clean_stop_keeps_backups_passive": 12,
            "primary_has_priority": 15,
            "no_false_alarm": 13,
            "p10_someone_serves": 10,
            "failback_completes": 25,
        },
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 8},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "one_passive p11_recovering_ends hand_over_ends two_serving_ends",
    ),
    "wrong_lease_clock": Found(
        (1_592, 6_017, 28),
        violated={"p1_one_serving": 10, "p12_serving_holds_lock": 6, "only_one_writes": 11},
        holds="no_false_alarm p10_someone_serves two_serving_ends",
    ),
    "own_clock_jumps": Found(
        (2_184, 9_180, 58),
        violated={"no_false_alarm": 7},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "failing_back_for_ever": Found(
        (1_055, 4_259, 25),
        violated={"p10_someone_serves": 9},
        holds="p1_one_serving",
    ),
    "handed_over_for_ever": Found(
        (3_995, 17_390, 32),
        violated={"hand_over_ends": 22},
        holds="p1_one_serving",
    ),
    "clock_behind": Found(
        (2_248, 8_361, 38),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7, "two_serving_ends": 17},
    ),
    "backup_unwatched": Found(
        (18_499, 85_198, 46),
        violated={
            "p1_one_serving": 14,
            "p2_acked_survives": 15,
            "p12_serving_holds_lock": 10,
            "only_one_writes": 15,
            "two_serving_ends": 19,
        },
    ),
    "touch_forgotten": Found(
        (1_759, 7_282, 37),
        violated={"no_false_alarm": 15},
        holds="p1_one_serving",
    ),
    "announces_by_probe": Found(
        (964, 3_973, 24),
        violated={"failback_completes": 14},
        holds="p1_one_serving p10_someone_serves",
    ),
    "critical_stop_pauses": Found(
        (17_645, 71_503, 47),
        violated={"p10_someone_serves": 24},
        holds="two_serving_ends",
    ),
    "waiting_stop_pauses": Found(
        (21_555, 107_709, 29),
        violated={"p10_someone_serves": 22},
        holds="p1_one_serving",
    ),
    "as_released": Found(
        (110_644, 504_895, 52),
        violated={
            "p1_one_serving": 14,
            "p2_acked_survives": 15,
            "p9_replica_equals_after_quiesce": 15,
            "p12_serving_holds_lock": 14,
            "p14_failback_loses_nothing": 21,
            "only_one_writes": 15,
            "no_false_alarm": 14,
            "p10_someone_serves": 9,
            "failback_completes": 19,
            "hand_over_ends": 24,
            "two_serving_ends": 24,
        },
        reached={"failover": 14, "failback": 23, "next_backup_is_passive": 13},
        holds="p3_no_incomplete_copy_serves p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once "
        "p7_transaction_all_or_nothing p8_standby_never_serves one_passive clean_stop_keeps_backups_passive "
        "primary_has_priority p11_recovering_ends",
    ),
    "clock_behind_named": Found(
        (2_516, 9_127, 38),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7},
        holds="two_serving_ends",
    ),
    "named_and_fenced": Found(
        (321_395, 1_859_314, 57),
        violated={"p1_one_serving": 11, "p12_serving_holds_lock": 7},
        holds="p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once only_one_writes "
        "p10_someone_serves failback_completes two_serving_ends",
    ),
    "late_write_fenced": Found(
        (15_324, 63_577, 42),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p8_standby_never_serves p12_serving_holds_lock "
        "p14_failback_loses_nothing only_one_writes",
    ),
    "unsynced": Found(
        (1_668, 6_556, 25),
        violated={
            "p2_acked_survives": 12,
            "p4_no_stale_copy_serves": 12,
            "p5_only_copy_never_erased": 6,
            "p14_failback_loses_nothing": 14,
        },
        holds="p1_one_serving",
    ),
    "uncommitted": Found(
        (21_355, 88_259, 44),
        violated={"p7_transaction_all_or_nothing": 18},
        holds="p1_one_serving",
    ),
    "no_backup_lock": Found(
        (9_252, 55_617, 25),
        violated={"one_passive": 4},
        reached={"failover": 9, "failback": 18, "next_backup_is_passive": 10},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock p14_failback_loses_nothing only_one_writes "
        "clean_stop_keeps_backups_passive primary_has_priority no_false_alarm p10_someone_serves "
        "p11_recovering_ends failback_completes hand_over_ends two_serving_ends",
    ),
    "passive_accepts": Found(
        (150, 548, 11),
        violated={"p8_standby_never_serves": 3},
    ),
}

TABLE = Table(
    "artemis_shared_store",
    PINNED,
    portable_max=1_000,  # well under a second; there are many checks
    unreached={"failback": "`no_failback` turns it off"},
)
