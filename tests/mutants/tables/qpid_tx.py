"""Qpid transactions, and what breaks them: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (111, 255, 12),
        violated={"p7_tx_all_or_nothing": 7},
        reached={"survived": 10},
        holds="p2_committed_survives uncommitted_is_invisible aborted_leaves_nothing "
        "right_message_dropped p9_replica_equals_after_quiesce p11_commit_ends p6_exactly_once "
        "same_order",
    ),
    "one_message": Found(
        (1_281, 3_815, 15),
        holds="p7_tx_all_or_nothing p2_committed_survives uncommitted_is_invisible aborted_leaves_nothing "
        "p6_exactly_once",
    ),
    "three_brokers": Found(
        (22_830, 70_871, 20),
        violated={"p7_tx_all_or_nothing": 7},
        holds="p2_committed_survives uncommitted_is_invisible aborted_leaves_nothing "
        "right_message_dropped p9_replica_equals_after_quiesce same_order",
    ),
    "accepting": Found(
        (174, 399, 14),
        violated={"accepted_with_the_rest": 11},
        holds="p2_committed_survives p9_replica_equals_after_quiesce p6_exactly_once",
    ),
    "repeated": Found(
        (243, 594, 19),
        violated={"p6_exactly_once": 13},
        holds="p2_committed_survives",
    ),
    "cut": Found(
        (383, 1_101, 14),
        violated={"p7_tx_all_or_nothing": 7},
        holds="p2_committed_survives aborted_leaves_nothing p9_replica_equals_after_quiesce p11_commit_ends",
    ),
    "replicated": Found(
        (168, 373, 13),
        reached={"survived": 11},
        holds="p7_tx_all_or_nothing p2_committed_survives uncommitted_is_invisible aborted_leaves_nothing "
        "right_message_dropped p9_replica_equals_after_quiesce p11_commit_ends p6_exactly_once "
        "accepted_with_the_rest",
    ),
    "replicated_three": Found(
        (3_512, 10_555, 18),
        holds="p7_tx_all_or_nothing p2_committed_survives uncommitted_is_invisible aborted_leaves_nothing "
        "p9_replica_equals_after_quiesce p6_exactly_once",
    ),
    "replicated_cut": Found(
        (4_018, 13_853, 15),
        holds="p7_tx_all_or_nothing p2_committed_survives aborted_leaves_nothing "
        "p9_replica_equals_after_quiesce p11_commit_ends",
    ),
    "own_order": Found(
        (312, 825, 12),
        violated={"same_order": 10},
        reached={"in_order_of_its_own": 10},
        holds="p7_tx_all_or_nothing right_message_dropped p9_replica_equals_after_quiesce",
    ),
    "positions": Found(
        (324, 843, 12),
        violated={"right_message_dropped": 9, "p9_replica_equals_after_quiesce": 12},
    ),
    "positions_local": Found(
        (244, 591, 12),
        holds="right_message_dropped p9_replica_equals_after_quiesce same_order",
    ),
    "ready_during_tx": Found(
        (293, 713, 12),
        violated={"p7_tx_all_or_nothing": 8},
        holds="p2_committed_survives",
    ),
    "no_prepare": Found(
        (576, 1_446, 14),
        violated={"aborted_leaves_nothing": 5},
        holds="p7_tx_all_or_nothing p2_committed_survives",
    ),
    "confirms_early": Found(
        (128, 287, 12),
        violated={"p2_committed_survives": 8},
    ),
    "keeps_open_tx": Found(
        (156, 334, 12),
        violated={"p7_tx_all_or_nothing": 3, "uncommitted_is_invisible": 3, "aborted_leaves_nothing": 4},
        holds="p2_committed_survives",
    ),
    "publishes_at_once": Found(
        (161, 395, 10),
        violated={"uncommitted_is_invisible": 1, "aborted_leaves_nothing": 2},
    ),
    "waits_for_lost": Found(
        (101, 232, 12),
        violated={"p11_commit_ends": 9},
        holds="p2_committed_survives",
    ),
}

TABLE = Table("qpid_tx", PINNED)
