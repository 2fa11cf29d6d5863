"""Single Qpid queues, and what breaks their copies: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (94, 255, 10),
        holds="p2_acked_survives p5_only_copy_never_erased right_message_dropped "
        "p9_replica_equals_after_quiesce copy_catches_up p11_senders_are_answered "
        "all_acknowledged_survives p1_one_serving p6_exactly_once p8_standby_never_serves",
    ),
    "gone": Found(
        (290, 631, 14),
        violated={"p6_exactly_once": 7},
        reached={"saved": 3},
        holds="p2_acked_survives p11_senders_are_answered",
    ),
    "comes_back": Found(
        (350, 892, 17),
        violated={
            "p2_acked_survives": 10,
            "p5_only_copy_never_erased": 10,
            "copy_catches_up": 11,
            "all_acknowledged_survives": 3,
        },
        reached={"passed_over": 10},
    ),
    "ids_given_again": Found(
        (1_163, 2_843, 19),
        violated={"right_message_dropped": 9, "p9_replica_equals_after_quiesce": 10},
    ),
    "goes_on_copying": Found(
        (534, 1_301, 17),
        violated={"p2_acked_survives": 7, "p1_one_serving": 3},
    ),
    "stays_apart": Found(
        (240, 538, 14),
        violated={"copy_catches_up": 5},
        holds="p2_acked_survives p5_only_copy_never_erased",
    ),
    "cut": Found(
        (1_032, 2_926, 16),
        violated={"all_acknowledged_survives": 3},
        holds="p2_acked_survives",
    ),
    "copy_ends": Found(
        (390, 1_173, 15),
        holds="p2_acked_survives right_message_dropped p9_replica_equals_after_quiesce copy_catches_up "
        "p11_senders_are_answered all_acknowledged_survives",
    ),
    "cut_and_taken": Found(
        (10_241, 38_283, 23),
        holds="p2_acked_survives right_message_dropped p9_replica_equals_after_quiesce p6_exactly_once",
    ),
    "wrong_about_a": Found(
        (134, 221, 11),
        violated={"p1_one_serving": 1, "p6_exactly_once": 6},
        holds="p9_replica_equals_after_quiesce",
    ),
    "intruder": Found(
        (172, 502, 11),
        violated={"copy_catches_up": 6, "p8_standby_never_serves": 5},
        holds="p2_acked_survives",
    ),
    "no_intruder": Found(
        (96, 262, 10),
        holds="p2_acked_survives p8_standby_never_serves",
    ),
    "zero_ids": Found(
        (71, 187, 10),
        violated={"right_message_dropped": 8, "p9_replica_equals_after_quiesce": 8},
        holds="p2_acked_survives",
    ),
    "no_snapshot": Found(
        (212, 633, 14),
        violated={"p6_exactly_once": 9},
        holds="right_message_dropped",
    ),
    "snapshot_not_compared": Found(
        (621, 1_952, 15),
        violated={"p9_replica_equals_after_quiesce": 9},
        holds="p2_acked_survives",
    ),
    "acks_at_once": Found(
        (345, 755, 14),
        violated={"p2_acked_survives": 5},
    ),
    "waits_for_lost_copy": Found(
        (112, 298, 10),
        violated={"p11_senders_are_answered": 8},
    ),
}

TABLE = Table("qpid_standalone", PINNED)
