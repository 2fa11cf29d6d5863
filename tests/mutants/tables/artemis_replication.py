"""Artemis replication, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it; the table also has the near-misses: what must hold although something
like it breaks. Some are explored once more with reductions. Checks that run by request are left out.

Known defects: `one_pair` (no votes), `halved_size` (too few), `asks_for_reach` (the wrong question), `found_is_no` and
`any_connector` (the vote to stay), `health_decides`, `empty_list_is_healthy` and `isolation_stops` (the network check),
`no_look`, `both_down`, `late_ack_ignored`, `keeps_connection`, `snapshot_without_flush`, `transaction_torn`,
`replica_memory`, `failback_by_delay`, `trusts_topology`, `votes_in_failback`, `replicates_first`. The same without the
defect: `one_pair_crash`, `three_pairs`, `one_crash`, `paused`, `health_and_vote`, `isolation_retries`, `late_ack`,
`slow_replica`, `split_writes`, `replica_memory_one_fault`, `hasty_votes`, `transaction`, `refused`.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (4_494, 27_417, 33),
        violated={
            "p1_one_serving": 13,
            "p2_acked_survives": 12,
            "p2_acked_where_listed": 12,
            "p4_no_stale_copy_serves": 12,
            "p10_pair_serves": 29,
            "p14_failback_ends": 29,
            "split_brain_ends": 20,
            "pair_is_restored": 15,
            "returned_gets_its_place": 29,
        },
        reached={"in_both": 6, "all_paired": 5, "backup_takes_over": 11, "failed_back": 11, "backup_gives_up": 6},
        holds="p3_no_incomplete_copy_serves p5_only_copy_never_erased p6_exactly_once "
        "p7_transaction_all_or_nothing p8_standby_never_serves p9_replica_equals_after_quiesce "
        "in_sync_is_so nobody_retires p13_vote_order_irrelevant p14_failback_loses_nothing healthy_goes_on "
        "backup_waits_for_live pairs_within_group one_backup_each p10_someone_serves p10_primary_starts "
        "p11_recovering_ends backup_finds_live",
    ),
    "outage_in_failback": Found((37_387, 222_247, 49), violated={"p3_no_incomplete_copy_serves": 16}),
    "one_fault": Found(
        (788, 4_638, 24),
        violated={"pair_is_restored": 15},
        reached={"in_both": 6, "all_paired": 5, "backup_takes_over": 11, "failed_back": 11, "backup_gives_up": 6},
        holds="p1_one_serving p2_acked_survives p2_acked_where_listed p3_no_incomplete_copy_serves "
        "p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing "
        "p8_standby_never_serves "
        "p9_replica_equals_after_quiesce in_sync_is_so nobody_retires p13_vote_order_irrelevant "
        "p14_failback_loses_nothing healthy_goes_on backup_waits_for_live pairs_within_group "
        "one_backup_each p10_someone_serves p10_primary_starts p10_pair_serves p11_recovering_ends "
        "p14_failback_ends split_brain_ends backup_finds_live returned_gets_its_place",
    ),
    "small_quorum": Found(
        (833, 5_043, 22),
        violated={
            "p1_one_serving": 8,
            "p2_acked_survives": 9,
            "p4_no_stale_copy_serves": 9,
            "split_brain_ends": 15,
            "pair_is_restored": 13,
        },
    ),
    "disk_lost": Found(
        (997, 5_842, 24),
        violated={"p2_acked_survives": 9, "p3_no_incomplete_copy_serves": 8, "p4_no_stale_copy_serves": 9},
    ),
    "promoted_by_hand": Found(
        (1_232, 7_417, 26),
        violated={"p2_acked_survives": 12, "p3_no_incomplete_copy_serves": 11, "p4_no_stale_copy_serves": 12},
    ),
    "slow_replica_one_fault": Found(
        (2_666, 15_525, 32),
        violated={"p2_acked_survives": 12, "p4_no_stale_copy_serves": 12},
    ),
    "one_crash": Found(
        (283, 1_519, 23),
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p13_vote_order_irrelevant p14_failback_loses_nothing healthy_goes_on backup_waits_for_live "
        "p10_someone_serves p11_recovering_ends p14_failback_ends split_brain_ends "
        "returned_gets_its_place",
    ),
    "faults_apart": Found(
        (1_684, 10_259, 32),
        violated={"p1_one_serving": 13, "p2_acked_survives": 14, "p4_no_stale_copy_serves": 14},
    ),
    "isolated": Found(
        (931, 5_385, 26),
        violated={"p1_one_serving": 14, "p2_acked_survives": 11, "split_brain_ends": 19},
        holds="p5_only_copy_never_erased",
    ),
    "paused": Found(
        (688, 3_728, 26),
        violated={"p1_one_serving": 10, "p2_acked_survives": 11, "p2_acked_where_listed": 12, "healthy_goes_on": 10},
        holds="p3_no_incomplete_copy_serves split_brain_ends",
    ),
    "split_writes": Found(
        (3_543, 23_370, 31),
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p5_only_copy_never_erased "
        "p6_exactly_once p9_replica_equals_after_quiesce in_sync_is_so p14_failback_loses_nothing",
    ),
    "split_votes": Found(
        (685, 3_535, 26),
        violated={"p1_one_serving": 15, "p2_acked_survives": 16},
    ),
    "split_votes_late": Found(
        (618, 3_093, 26),
        holds="p1_one_serving p2_acked_survives",
    ),
    "both_down": Found(
        (1_651, 9_021, 40),
        violated={
            "p2_acked_survives": 14,
            "p3_no_incomplete_copy_serves": 21,
            "p4_no_stale_copy_serves": 14,
            "pair_is_restored": 14,
        },
        holds="p1_one_serving p5_only_copy_never_erased nobody_retires p10_primary_starts",
    ),
    "voter_down": Found(
        (753, 3_905, 24),
        holds="healthy_goes_on p10_someone_serves",
    ),
    "four_pairs": Found(
        (1_442, 9_575, 25),
        violated={"healthy_goes_on": 8, "p10_someone_serves": 15},
    ),
    "as_shipped": Found(
        (365, 2_094, 14),
        violated={"p1_one_serving": 12, "p2_acked_survives": 13},
    ),
    "hardened": Found(
        (4_472, 27_302, 33),
        violated={"p2_acked_survives": 12, "p4_no_stale_copy_serves": 12, "p14_failback_ends": 29},
        holds="p1_one_serving p3_no_incomplete_copy_serves p5_only_copy_never_erased split_brain_ends",
    ),
    "hardened_two_backups": Found(
        (103_365, 771_712, 37),
        violated={"p1_one_serving": 28, "split_brain_ends": 38},
    ),
    "cure": Found(
        (4_455, 27_164, 33),
        violated={"p10_someone_serves": 16},
        reached={"in_both": 6, "all_paired": 5, "backup_takes_over": 11, "failed_back": 11, "backup_gives_up": 6},
        holds="p1_one_serving p2_acked_survives p2_acked_where_listed p3_no_incomplete_copy_serves "
        "p4_no_stale_copy_serves p5_only_copy_never_erased p6_exactly_once p7_transaction_all_or_nothing "
        "p8_standby_never_serves p9_replica_equals_after_quiesce in_sync_is_so nobody_retires "
        "p13_vote_order_irrelevant p14_failback_loses_nothing healthy_goes_on backup_waits_for_live "
        "pairs_within_group one_backup_each p10_primary_starts p10_pair_serves p11_recovering_ends "
        "p14_failback_ends split_brain_ends pair_is_restored backup_finds_live returned_gets_its_place",
    ),
    "cure_two_backups": Found(
        (77_182, 580_765, 33),
        reached={"failed_back": 11},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased split_brain_ends",
    ),
    "cure_outage": Found(
        (32_494, 191_930, 49),
        reached={"backup_takes_over": 11},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased p10_pair_serves p14_failback_ends split_brain_ends pair_is_restored "
        "returned_gets_its_place",
    ),
    "cure_paused": Found(
        (510, 2_745, 26),
        violated={"p1_one_serving": 10},
        holds="p2_acked_where_listed p3_no_incomplete_copy_serves p4_no_stale_copy_serves "
        "p5_only_copy_never_erased split_brain_ends pair_is_restored",
    ),
    "cure_without_list": Found(
        (4_572, 27_720, 33),
        violated={"p2_acked_survives": 12, "p4_no_stale_copy_serves": 12, "pair_is_restored": 15},
    ),
    "cure_without_start_votes": Found(
        (4_547, 27_678, 33),
        violated={"p1_one_serving": 9, "p4_no_stale_copy_serves": 10},
    ),
    "cure_without_release_votes": Found(
        (4_848, 26_214, 43),
        violated={"p2_acked_where_listed": 12},
    ),
    "cure_without_marks": Found(
        (33_027, 195_360, 49),
        violated={"p3_no_incomplete_copy_serves": 26},
    ),
    "cure_without_newest": Found(
        (4_309, 26_295, 33),
        violated={"p10_pair_serves": 29, "p14_failback_ends": 29},
    ),
    "cure_without_asking": Found(
        (4_542, 27_838, 33),
        violated={"p1_one_serving": 21},
    ),
    "marked_copies": Found(
        (42_298, 248_257, 49),
        reached={"backup_takes_over": 10, "failed_back": 11},
        holds="p3_no_incomplete_copy_serves",
    ),
    "hardened_apart": Found(
        (1_676, 10_219, 32),
        violated={"p14_failback_ends": 29},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves",
    ),
    "isolated_hardened": Found(
        (795, 4_703, 26),
        holds="p1_one_serving p2_acked_survives p5_only_copy_never_erased split_brain_ends",
    ),
    "stops_slowly": Found(
        (1_151, 6_549, 33),
        violated={"p1_one_serving": 11, "p2_acked_survives": 11},
    ),
    "wrong_password": Found(
        (24, 127, 6),
        violated={"backup_finds_live": 7},
        holds="p1_one_serving p2_acked_survives",
    ),
    "backup_elsewhere": Found(
        (24, 127, 6),
        violated={"backup_finds_live": 7},
        holds="p1_one_serving p2_acked_survives",
    ),
    "primary_looks_elsewhere": Found(
        (245, 1_279, 13),
        violated={"p1_one_serving": 12, "p2_acked_survives": 13},
    ),
    "one_pair": Found(
        (152, 459, 15),
        violated={"p1_one_serving": 8, "p2_acked_survives": 9, "split_brain_ends": 10},
    ),
    "one_pair_crash": Found(
        (141, 350, 21),
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves healthy_goes_on p10_someone_serves",
    ),
    "one_pair_slow_replica": Found(
        (22, 46, 9),
        violated={"p1_one_serving": 8, "p2_acked_survives": 9, "p4_no_stale_copy_serves": 9},
    ),
    "one_pair_quorum": Found(
        (121, 293, 11),
        violated={"healthy_goes_on": 7, "p10_someone_serves": 10},
        holds="p1_one_serving p2_acked_survives",
    ),
    "promoted": Found(
        (1_888, 4_682, 36),
        violated={"p1_one_serving": 16, "p2_acked_survives": 8, "p4_no_stale_copy_serves": 8},
        reached={"backup_takes_over": 8},
    ),
    "three_pairs": Found(
        (132, 891, 14),
        reached={"backup_gives_up": 8},
        holds="p1_one_serving p2_acked_survives",
    ),
    "halved_size": Found(
        (152, 1_039, 15),
        violated={"p1_one_serving": 8, "p2_acked_survives": 9},
    ),
    "asks_for_reach": Found(
        (241, 1_565, 24),
        violated={"p1_one_serving": 8, "p2_acked_survives": 9},
    ),
    "found_is_no": Found(
        (337, 1_791, 23),
        violated={"healthy_goes_on": 7},
        holds="p13_vote_order_irrelevant",
    ),
    "any_connector": Found(
        (692, 3_746, 26),
        violated={"p1_one_serving": 10, "p2_acked_survives": 11, "healthy_goes_on": 10, "split_brain_ends": 16},
        holds="p3_no_incomplete_copy_serves",
    ),
    "first_answer": Found(
        (311, 1_721, 22),
        violated={"p13_vote_order_irrelevant": 6},
        holds="p1_one_serving",
    ),
    "hasty_votes": Found(
        (289, 1_581, 23),
        violated={"p10_someone_serves": 14},
        holds="p1_one_serving p14_failback_ends",
    ),
    "slow_detection": Found(
        (855, 5_091, 26),
        violated={"p1_one_serving": 10},
    ),
    "network_check": Found(
        (281, 986, 23),
        violated={"p1_one_serving": 9},
    ),
    "network_check_link": Found(
        (152, 622, 15),
        violated={"p1_one_serving": 8},
    ),
    "health_and_vote": Found(
        (132, 1_020, 14),
        holds="p1_one_serving p2_acked_survives",
    ),
    "health_decides": Found(
        (271, 2_040, 25),
        violated={"p1_one_serving": 9, "p2_acked_survives": 10},
    ),
    "empty_list_is_healthy": Found(
        (271, 1_766, 25),
        violated={"p1_one_serving": 9, "p2_acked_survives": 10},
    ),
    "address_unreachable": Found(
        (364, 2_119, 25),
        holds="p1_one_serving p2_acked_survives p10_someone_serves",
    ),
    "isolation_retries": Found(
        (1_172, 7_323, 25),
        holds="nobody_retires",
    ),
    "isolation_stops": Found(
        (1_177, 7_315, 25),
        violated={"nobody_retires": 5},
    ),
    "address_gone": Found(
        (93, 515, 12),
        violated={"p10_pair_serves": 9},
        holds="p1_one_serving p2_acked_survives",
    ),
    "no_look": Found(
        (245, 1_279, 13),
        violated={"p1_one_serving": 12, "p2_acked_survives": 13, "p4_no_stale_copy_serves": 13},
    ),
    "trusts_topology": Found(
        (2_203, 11_820, 40),
        violated={"p10_primary_starts": 10},
        holds="p1_one_serving p5_only_copy_never_erased",
    ),
    "trusts_topology_two_backups": Found((23_154, 150_076, 41), violated={"p1_one_serving": 31}),
    "sync_unwatched": Found(
        (203, 1_093, 23),
        violated={"p11_recovering_ends": 10},
        holds="p10_primary_starts",
    ),
    "late_ack": Found(
        (124, 275, 21),
        violated={"healthy_goes_on": 5},
        holds="p1_one_serving p2_acked_survives",
    ),
    "late_ack_ignored": Found(
        (50, 108, 14),
        violated={"p1_one_serving": 7, "p2_acked_survives": 8},
        holds="healthy_goes_on",
    ),
    "slow_replica": Found(
        (762, 4_076, 31),
        holds="p2_acked_survives p4_no_stale_copy_serves in_sync_is_so",
    ),
    "slow_replica_two_backups": Found(
        (5_518, 38_440, 32),
        violated={"p2_acked_survives": 27, "p4_no_stale_copy_serves": 27, "in_sync_is_so": 38},
    ),
    "keeps_connection": Found(
        (467, 2_556, 24),
        violated={"p2_acked_survives": 12, "p4_no_stale_copy_serves": 12, "in_sync_is_so": 13},
    ),
    "snapshot_without_flush": Found(
        (4_579, 31_101, 32),
        violated={
            "p2_acked_survives": 13,
            "p4_no_stale_copy_serves": 13,
            "p9_replica_equals_after_quiesce": 8,
            "in_sync_is_so": 15,
            "p14_failback_loses_nothing": 21,
        },
        holds="p1_one_serving p5_only_copy_never_erased p6_exactly_once",
    ),
    "transaction": Found(
        (18_181, 136_363, 44),
        holds="p2_acked_survives p7_transaction_all_or_nothing",
    ),
    "transaction_torn": Found(
        (24_647, 183_297, 47),
        violated={"p2_acked_survives": 19, "p7_transaction_all_or_nothing": 18},
    ),
    "replica_memory": Found(
        (12_528, 78_521, 43),
        violated={"p5_only_copy_never_erased": 10},
    ),
    "replica_memory_one_fault": Found(
        (1_835, 11_787, 28),
        holds="p5_only_copy_never_erased",
    ),
    "replica_disk": Found(
        (10_391, 64_302, 43),
        holds="p5_only_copy_never_erased",
    ),
    "refused": Found(
        (23, 153, 7),
        holds="p9_replica_equals_after_quiesce",
    ),
    "replicates_first": Found(
        (26, 174, 7),
        violated={"p9_replica_equals_after_quiesce": 6},
    ),
    "failback_by_delay": Found(
        (507, 2_689, 25),
        violated={"p2_acked_survives": 18, "p3_no_incomplete_copy_serves": 17, "p14_failback_ends": 20},
        holds="p14_failback_loses_nothing",
    ),
    "votes_in_failback": Found(
        (344, 1_839, 26),
        violated={"p10_someone_serves": 14, "p14_failback_ends": 26},
        holds="p1_one_serving",
    ),
    "old_data_deleted": Found(
        (1_082, 6_029, 29),
        violated={"p5_only_copy_never_erased": 13},
    ),
    "old_data_rotates": Found(
        (17_576, 98_660, 53),
        violated={"p5_only_copy_never_erased": 22},
    ),
    "retires": Found(
        (2_125, 11_345, 31),
        violated={"nobody_retires": 8},
        holds="p5_only_copy_never_erased",
    ),
    "spare": Found(
        (1_105, 7_742, 24),
        violated={"returned_gets_its_place": 22},
        holds="p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves one_backup_each",
    ),
    "groups": Found(
        (1_152, 11_536, 11),
        reached={"all_paired": 10},
        holds="pairs_within_group one_backup_each backup_finds_live",
    ),
    "tries_first_only": Found(
        (42, 379, 7),
        violated={"backup_finds_live": 14},
        holds="pairs_within_group one_backup_each",
    ),
    "skips_group": Found(
        (3_360, 35_088, 11),
        violated={"pairs_within_group": 2},
        holds="one_backup_each",
    ),
    "serves_unpaired": Found(
        (15, 94, 6),
        violated={"p3_no_incomplete_copy_serves": 1, "backup_waits_for_live": 1},
    ),
    "takes_second_backup": Found(
        (2_975, 21_866, 39),
        violated={"one_backup_each": 3},
    ),
    "in_doubt": Found(
        (639, 3_508, 24),
        holds="p2_acked_survives p6_exactly_once p8_standby_never_serves",
    ),
    "no_duplicate_ids": Found(
        (655, 3_613, 24),
        violated={"p6_exactly_once": 3},
        holds="p2_acked_survives p8_standby_never_serves",
    ),
    "backup_accepts": Found(
        (13, 81, 6),
        violated={"p8_standby_never_serves": 6, "p9_replica_equals_after_quiesce": 6},
    ),
}

TABLE = Table(
    "artemis_replication",
    PINNED,
    # Those with two messages, several steps, a second backup, a pause.
    once_more=("default", "split_writes", "spare", "any_connector"),
)
