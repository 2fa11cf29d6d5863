"""Clients in a failover, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (13_125, 45_198, 26),
        violated={"p6_handled_once": 10},
        reached={"failed_over": 7},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p7_all_or_nothing "
        "p7_same_outcome temporary_queue_there listener_told live_first gets_in calls_end all_sent",
    ),
    "first_connection": Found(
        (111, 243, 9),
        violated={"gets_in": 4},
        reached={"failed_over": 7},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first calls_end "
        "all_sent",
    ),
    "local": Found(
        (24_938, 87_578, 33),
        violated={"p2_consumed_was_handled": 11},
        reached={"failed_over": 9},
        holds="p2_acked_survives p6_exactly_once p6_handled_once p7_all_or_nothing p7_same_outcome "
        "temporary_queue_there listener_told live_first gets_in calls_end all_sent",
    ),
    "local_producer": Found(
        (43_490, 162_674, 26),
        violated={"gets_in": 3},
        reached={"failed_over": 9},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first calls_end "
        "all_sent",
    ),
    "local_remembers": Found(
        (65_810, 242_581, 35),
        reached={"failed_over": 9},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first gets_in "
        "calls_end all_sent",
    ),
    "distributed": Found(
        (28_591, 99_161, 31),
        reached={"failed_over": 10},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first gets_in "
        "calls_end all_sent",
    ),
    "link": Found(
        (2_537, 9_257, 20),
        violated={"p2_consumed_was_handled": 10},
        holds="p2_acked_survives p6_exactly_once p6_handled_once p7_all_or_nothing calls_end all_sent",
    ),
    "reattached": Found(
        (1_927, 6_963, 17),
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once listener_told "
        "calls_end all_sent",
    ),
    "reattached_expired": Found(
        (5_690, 21_991, 23),
        violated={"p6_handled_once": 11},
        holds="p2_consumed_was_handled",
    ),
    "reattached_commit": Found(
        (2_853, 9_947, 20),
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing calls_end all_sent",
    ),
    "server_list": Found(
        (122, 266, 9),
        violated={"live_first": 4, "gets_in": 5},
        reached={"failed_over": 7},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told calls_end all_sent",
    ),
    "no_retries": Found(
        (96, 189, 8),
        violated={"gets_in": 4, "failed_over": None},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first calls_end "
        "all_sent",
    ),
    "few_retries": Found(
        (152, 298, 9),
        violated={"gets_in": 6},
        reached={"failed_over": 7},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told live_first calls_end "
        "all_sent",
    ),
    "application_level": Found(
        (764, 1_633, 19),
        violated={"live_first": 5, "failed_over": None},
        holds="p2_acked_survives p2_consumed_was_handled p6_exactly_once p6_handled_once "
        "p7_all_or_nothing p7_same_outcome temporary_queue_there listener_told gets_in calls_end "
        "all_sent",
    ),
    "silent_listeners": Found(
        (108, 238, 9),
        violated={"listener_told": 6},
    ),
    "temporary_not_recreated": Found(
        (2_059, 6_861, 21),
        violated={"temporary_queue_there": 6},
    ),
    "never_unblocked": Found(
        (127, 265, 11),
        violated={"calls_end": 9},
        holds="p2_acked_survives",
    ),
    "no_duplicate_ids": Found(
        (516, 1_164, 12),
        violated={"p6_exactly_once": 5},
        holds="p2_acked_survives",
    ),
    "one_id": Found(
        (694, 1_579, 18),
        holds="p2_acked_survives p6_exactly_once p7_all_or_nothing all_sent",
    ),
    "small_cache": Found(
        (5_084, 12_087, 18),
        violated={"p2_acked_survives": 9, "p6_exactly_once": 9},
    ),
    "ids_in_memory": Found(
        (452, 1_018, 12),
        violated={"p6_exactly_once": 8},
        holds="p2_acked_survives",
    ),
    "trusts_sends": Found(
        (120, 258, 9),
        violated={"p2_acked_survives": 7},
        holds="p6_exactly_once",
    ),
    "trusts_commits": Found(
        (2_911, 9_567, 29),
        violated={"p2_acked_survives": 9, "p6_handled_once": 18},
        holds="p2_consumed_was_handled p6_exactly_once p7_all_or_nothing",
    ),
    "asynchronous": Found(
        (120, 258, 9),
        violated={"p2_acked_survives": 7},
        holds="p6_exactly_once",
    ),
    "asynchronous_reattached": Found(
        (143, 298, 10),
        holds="p2_acked_survives p6_exactly_once",
    ),
    "asynchronous_expired": Found(
        (360, 797, 11),
        violated={"p2_acked_survives": 5},
        holds="p6_exactly_once",
    ),
    "not_persistent": Found(
        (114, 247, 9),
        violated={"p2_acked_survives": 3},
        holds="p6_exactly_once",
    ),
    "retries_duplicates": Found(
        (796, 1_832, 18),
        violated={"all_sent": 14},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "regroups": Found(
        (5_027, 11_976, 18),
        violated={"p2_acked_survives": 9},
        holds="p6_exactly_once",
    ),
    "plain_timeout": Found(
        (198, 453, 12),
        violated={"p2_acked_survives": 11},
        holds="p6_exactly_once p7_all_or_nothing",
    ),
    "no_rollback_only": Found(
        (159, 350, 10),
        violated={"p2_acked_survives": 9, "p7_all_or_nothing": 9},
        holds="p6_exactly_once",
    ),
    "rolls_back_prepared": Found(
        (216, 490, 14),
        violated={"p7_same_outcome": 11},
        holds="p2_acked_survives p7_all_or_nothing",
    ),
    "xa_not_persistent": Found(
        (213, 477, 14),
        violated={"p7_all_or_nothing": 10, "p7_same_outcome": 5},
        holds="p6_exactly_once",
    ),
    "old_copy": Found(
        (8_211, 23_172, 36),
        violated={"p2_acked_survives": 11, "p6_handled_once": 23},
        holds="p6_exactly_once",
    ),
}

TABLE = Table(
    "artemis_client",
    PINNED,
    unreached={"failed_over": "a client that may not try again never works on after a failover by itself"},
)
