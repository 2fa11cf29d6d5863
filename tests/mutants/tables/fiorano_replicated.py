"""Fiorano's replicated mode, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.

Known defects: `no_lock_file` (LockFile is null), `just_started_serves` (stale winner), `clocks_differ` (time stamps of
two clocks), `gateway_gone` and `gateway_gone_literal` (the two readings of a lost lock), `unfinished_copy` (PASSIVE
SYNC is promoted), `standalones_meet` (STANDALONE meets STANDALONE). The same without the defect: `lock_file`,
`just_started_waits`, `epochs_not_clocks`, `one_fault`.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (720_276, 4_390_094, 42),
        violated={"p2_acked_survives": 10, "p4_no_stale_copy_serves": 10, "p5_only_copy_never_erased": 18},
        reached={"in_both": 11, "standby_takes_over": 13, "standby_follows_lock": 14, "comes_back": 17, "both_wait": 3},
        holds="p1_one_serving never_both_standalone p3_no_incomplete_copy_serves p6_exactly_once "
        "p8_standby_never_serves p9_replica_equals_after_quiesce p12_serving_holds_lock "
        "settles_at_once p10_someone_serves p10_outlives_gateway p11_recovering_ends "
        "pair_is_restored durable_connection_delivers",
    ),
    "as_logged": Found(
        (40_312, 338_024, 70),
        violated={"settles_at_once": 10},
    ),
    "one_fault": Found(
        (11_044, 63_285, 26),
        reached={"in_both": 11, "standby_takes_over": 13, "standby_follows_lock": 14, "comes_back": 17, "both_wait": 3},
        holds="p1_one_serving never_both_standalone p2_acked_survives p3_no_incomplete_copy_serves "
        "p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock settles_at_once p10_someone_serves "
        "p10_outlives_gateway p11_recovering_ends pair_is_restored durable_connection_delivers",
    ),
    "delivers": Found(
        (34_812, 179_018, 33),
        reached={"in_both": 11},
        holds="p10_someone_serves p11_recovering_ends pair_is_restored durable_connection_delivers",
    ),
    "one_address": Found(
        (104, 504, 13),
        violated={"durable_connection_delivers": 17},
        holds="p10_someone_serves",
    ),
    "late_broadcast": Found(
        (2_092, 10_488, 24),
        violated={"p2_acked_survives": 10, "p4_no_stale_copy_serves": 10, "p5_only_copy_never_erased": 18},
        holds="p1_one_serving",
    ),
    "stale_standby": Found(
        (18_744, 95_138, 33),
        violated={"p2_acked_survives": 15, "p4_no_stale_copy_serves": 15, "p5_only_copy_never_erased": 23},
        holds="p1_one_serving",
    ),
    "stale_without_crash": Found(
        (37_664, 216_128, 34),
        violated={"p2_acked_survives": 16, "p4_no_stale_copy_serves": 16, "p5_only_copy_never_erased": 23},
        holds="p1_one_serving p12_serving_holds_lock",
    ),
    "slow_answers": Found(
        (81_577, 676_024, 39),
        violated={"p2_acked_survives": 14, "p4_no_stale_copy_serves": 14},
        holds="p1_one_serving p3_no_incomplete_copy_serves",
    ),
    "pause": Found(
        (19_626, 94_178, 33),
        violated={"p2_acked_survives": 16, "p5_only_copy_never_erased": 23},
        holds="p1_one_serving p3_no_incomplete_copy_serves p12_serving_holds_lock p10_someone_serves "
        "p11_recovering_ends",
    ),
    "disk_lost": Found(
        (13_702, 72_528, 34),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p10_someone_serves pair_is_restored",
    ),
    "in_doubt": Found(
        (236, 1_454, 15),
        violated={"p6_exactly_once": 7},
        holds="p2_acked_survives p5_only_copy_never_erased p9_replica_equals_after_quiesce",
    ),
    "split_calls": Found(
        (25_610, 136_988, 38),
        violated={"p6_exactly_once": 16},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce p12_serving_holds_lock",
    ),
    "hardened": Found(
        (942_902, 5_744_932, 47),
        violated={"p6_exactly_once": 17},
        reached={"in_both": 11, "standby_takes_over": 13, "standby_follows_lock": 14, "comes_back": 17, "both_wait": 3},
        holds="p1_one_serving never_both_standalone p2_acked_survives p3_no_incomplete_copy_serves "
        "p4_no_stale_copy_serves p5_only_copy_never_erased p8_standby_never_serves "
        "p9_replica_equals_after_quiesce p12_serving_holds_lock settles_at_once p10_someone_serves "
        "p10_outlives_gateway p11_recovering_ends pair_is_restored durable_connection_delivers",
    ),
    "no_lock_file": Found(
        (894, 3_747, 20),
        violated={
            "p1_one_serving": 12,
            "never_both_standalone": 13,
            "p2_acked_survives": 13,
            "p12_serving_holds_lock": 5,
            "pair_is_restored": 18,
        },
    ),
    "lock_file": Found(
        (978, 5_167, 24),
        holds="p1_one_serving never_both_standalone p2_acked_survives p5_only_copy_never_erased "
        "p12_serving_holds_lock pair_is_restored",
    ),
    "standalones_meet": Found(
        (2_978, 12_463, 29),
        violated={"never_both_standalone": 13, "p5_only_copy_never_erased": 23},
    ),
    "standalone_stops": Found(
        (1_612, 6_477, 30),
        violated={"never_both_standalone": 13, "p5_only_copy_never_erased": 24},
    ),
    "lock_expires": Found(
        (21_378, 113_405, 37),
        violated={
            "p1_one_serving": 13,
            "never_both_standalone": 14,
            "p2_acked_survives": 14,
            "p5_only_copy_never_erased": 22,
            "p12_serving_holds_lock": 6,
        },
    ),
    "lock_expires_hardened": Found(
        (20_392, 107_595, 36),
        violated={"p1_one_serving": 13, "p12_serving_holds_lock": 6},
        holds="p4_no_stale_copy_serves p5_only_copy_never_erased",
    ),
    "gateway_gone": Found(
        (664, 3_636, 20),
        violated={"p10_outlives_gateway": 20, "p11_recovering_ends": 16},
        holds="p12_serving_holds_lock",
    ),
    "gateway_gone_literal": Found(
        (176, 904, 16),
        violated={"p12_serving_holds_lock": 8},
        holds="p10_outlives_gateway",
    ),
    "literal_split_brain": Found(
        (16_176, 94_166, 31),
        violated={"p1_one_serving": 15, "p2_acked_survives": 16, "p12_serving_holds_lock": 8},
    ),
    "just_started_waits": Found(
        (13_969, 67_476, 32),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p9_replica_equals_after_quiesce",
    ),
    "text_alone": Found(
        (1_768, 8_696, 24),
        violated={"p10_someone_serves": 15},
    ),
    "just_started_serves": Found(
        (28_415, 149_878, 35),
        violated={
            "p2_acked_survives": 7,
            "p3_no_incomplete_copy_serves": 13,
            "p4_no_stale_copy_serves": 7,
            "p5_only_copy_never_erased": 15,
        },
    ),
    "clocks_differ": Found(
        (45_398, 219_258, 35),
        violated={"p4_no_stale_copy_serves": 21, "p5_only_copy_never_erased": 25},
    ),
    "epochs_not_clocks": Found(
        (70_036, 339_672, 32),
        holds="p2_acked_survives p4_no_stale_copy_serves p5_only_copy_never_erased",
    ),
    "unfinished_copy": Found(
        (2_356, 11_654, 24),
        violated={"p2_acked_survives": 11, "p3_no_incomplete_copy_serves": 12, "p5_only_copy_never_erased": 18},
    ),
    "unfinished_copy_stays": Found(
        (1_808, 8_968, 24),
        violated={"p11_recovering_ends": 11},
        holds="p3_no_incomplete_copy_serves",
    ),
    "unfinished_copy_wins": Found(
        (16_169, 78_112, 36),
        violated={"p2_acked_survives": 26, "p3_no_incomplete_copy_serves": 15, "p5_only_copy_never_erased": 30},
    ),
    "early_acknowledgement": Found(
        (2_260, 10_992, 27),
        violated={"p2_acked_survives": 14, "p5_only_copy_never_erased": 21},
        holds="p9_replica_equals_after_quiesce",
    ),
    "copy_taken_at_first": Found(
        (58, 284, 13),
        violated={"p9_replica_equals_after_quiesce": 11},
    ),
    "passive_accepts": Found(
        (56, 276, 13),
        violated={"p8_standby_never_serves": 11, "p9_replica_equals_after_quiesce": 11},
    ),
}

TABLE = Table("fiorano_replicated", PINNED)
