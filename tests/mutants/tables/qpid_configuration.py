"""Queues, exchanges and bindings in Qpid, and what breaks them: every check finds exactly what is pinned here.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (8_024, 31_494, 17),
        violated={"others_survive": 5, "told_changes_survive": 3, "stops": None},
        reached={"failover": 4, "held": 1},
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept nothing_old_lives_on "
        "p1_one_serving p2_acked_survives given_on_survive p6_exactly_once "
        "p3_no_incomplete_copy_serves p4_routes_survive same_default backups_settle "
        "p11_senders_are_answered",
    ),
    "changes": Found(
        (70_794, 308_070, 19),
        reached={"held": 1},
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept nothing_old_lives_on "
        "p1_one_serving p2_acked_survives p3_no_incomplete_copy_serves p4_routes_survive "
        "backups_settle p11_senders_are_answered",
    ),
    "reconnects": Found(
        (94_066, 412_600, 19),
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept nothing_old_lives_on "
        "p2_acked_survives backups_settle p11_senders_are_answered",
    ),
    "reconnects_and_fails": Found(
        (89_620, 380_758, 27),
        holds="p9_replica_equals_after_quiesce p9_messages_of_level nothing_old_lives_on p1_one_serving "
        "p2_acked_survives p6_exactly_once p3_no_incomplete_copy_serves p4_routes_survive "
        "backups_settle p11_senders_are_answered",
    ),
    "catching_up": Found(
        (22_682, 93_648, 25),
        violated={"p3_no_incomplete_copy_serves": 6},
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept p1_one_serving "
        "p2_acked_survives p4_routes_survive backups_settle p11_senders_are_answered",
    ),
    "ready_when_configured": Found(
        (21_130, 87_234, 25),
        holds="p2_acked_survives p3_no_incomplete_copy_serves p4_routes_survive backups_settle",
    ),
    "split_brain": Found(
        (31, 60, 5),
        violated={"p1_one_serving": 1, "p2_acked_survives": 3, "backups_settle": 2},
    ),
    "of_the_default": Found(
        (2_600, 10_706, 13),
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept p2_acked_survives "
        "backups_settle p11_senders_are_answered",
    ),
    "levels_vary": Found(
        (118_862, 521_684, 19),
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept p2_acked_survives "
        "backups_settle p11_senders_are_answered",
    ),
    "old_one_stays": Found(
        (120_022, 526_476, 19),
        violated={"p9_replica_equals_after_quiesce": 13, "backups_settle": 15},
    ),
    "all_with_messages": Found(
        (184, 668, 6),
        violated={"p9_messages_of_level": 3, "levels_are_kept": 2},
    ),
    "another_default": Found(
        (1_124, 2_972, 7),
        reached={"stops": 1},
        holds="levels_are_kept same_default backups_settle",
    ),
    "difference_ignored": Found(
        (2_600, 10_706, 13),
        violated={"same_default": 1},
        holds="p9_replica_equals_after_quiesce p9_messages_of_level levels_are_kept backups_settle",
    ),
    "level_not_written": Found(
        (2_600, 10_706, 13),
        violated={"p9_replica_equals_after_quiesce": 8},
        holds="backups_settle",
    ),
    "level_not_written_but_equal": Found(
        (2_600, 10_706, 13),
        holds="p9_replica_equals_after_quiesce levels_are_kept same_default backups_settle",
    ),
    "early_acknowledgement": Found(
        (450, 1_600, 15),
        violated={"p2_acked_survives": 4},
        holds="p4_routes_survive",
    ),
    "auto_delete": Found(
        (13_990, 61_200, 19),
        violated={"given_on_survive": 7},
        holds="p9_replica_equals_after_quiesce p9_messages_of_level p2_acked_survives p6_exactly_once "
        "p4_routes_survive backups_settle p11_senders_are_answered",
    ),
    "backup_auto_deletes": Found(
        (15_540, 66_866, 20),
        violated={"p9_messages_of_level": 4, "p6_exactly_once": 7, "p4_routes_survive": 3},
        holds="p2_acked_survives",
    ),
    "by_name": Found(
        (155_632, 689_472, 29),
        violated={"p9_messages_of_level": 15, "nothing_old_lives_on": 17},
    ),
    "late_answer": Found(
        (2_916, 11_888, 13),
        violated={"p9_replica_equals_after_quiesce": 10, "backups_settle": 12},
    ),
    "stale_for_ever": Found(
        (22_800, 103_776, 15),
        violated={"p9_replica_equals_after_quiesce": 11},
        holds="backups_settle",
    ),
    "bindings_by_themselves": Found(
        (22_732, 102_500, 15),
        violated={"p9_replica_equals_after_quiesce": 12},
        holds="backups_settle",
    ),
    "replaced_keeps_session": Found(
        (46_506, 211_508, 20),
        violated={"backups_settle": 14, "p11_senders_are_answered": 18},
    ),
    "leftovers_stay": Found(
        (9_598, 39_302, 17),
        violated={"p9_replica_equals_after_quiesce": 12, "backups_settle": 14},
    ),
    "answers_overtake": Found(
        (161_133, 779_544, 28),
        violated={"p2_acked_survives": 13},
    ),
}

TABLE = Table(
    "qpid_configuration", PINNED, unreached={"stops": "only a broker with another default stops (`another_default`)"}
)
