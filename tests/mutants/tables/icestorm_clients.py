"""Clients of HA IceStorm, and what breaks them: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (2_849, 11_744, 13),
        reached={"moved": 10},
        holds="acknowledged_survives order_at_one_replica change_is_noticed order_lost_with_notice "
        "at_most_once nothing_after_end subscriber_succeeds failed_is_removed order_kept "
        "offered_to_all",
    ),
    "unclear": Found(
        (907_050, 4_936_195, 37),
        reached={"unclear_and_done": 14},
        holds="acknowledged_survives",
    ),
    "answered": Found(
        (795, 3_951, 18),
        holds="acknowledged_survives nothing_after_end subscriber_succeeds request_ends",
    ),
    "late_request": Found(
        (43_551, 199_486, 38),
        violated={"nothing_after_end": 21},
        holds="acknowledged_survives",
    ),
    "two_subscribers": Found(
        (84_801, 449_033, 18),
        holds="acknowledged_survives order_at_one_replica at_most_once failed_is_removed order_kept offered_to_all",
    ),
    "removed": Found(
        (283, 1_460, 11),
        holds="acknowledged_survives at_most_once subscriber_succeeds failed_is_removed",
    ),
    "power_failure": Found(
        (11_224, 44_029, 16),
        holds="acknowledged_survives subscriber_succeeds",
    ),
    "cut_slave": Found(
        (22_213, 126_912, 24),
        violated={"nothing_after_end": 7, "offered_to_all": 5},
        holds="acknowledged_survives at_most_once",
    ),
    "idle": Found(
        (202, 969, 9),
        violated={"change_is_noticed": 4, "order_lost_with_notice": 9, "order_kept": 9},
        holds="order_at_one_replica at_most_once",
    ),
    "idle_direct": Found(
        (203, 996, 11),
        holds="order_at_one_replica change_is_noticed order_lost_with_notice at_most_once order_kept",
    ),
    "cut_off": Found(
        (728, 3_987, 11),
        violated={"order_kept": 10},
        holds="order_at_one_replica change_is_noticed order_lost_with_notice at_most_once",
    ),
    "cut_off_direct": Found(
        (1_188, 6_405, 13),
        violated={"order_kept": 12},
        holds="order_at_one_replica change_is_noticed order_lost_with_notice at_most_once",
    ),
    "idle_and_cut": Found(
        (1_629, 9_327, 13),
        violated={"order_kept": 12},
        holds="order_at_one_replica change_is_noticed order_lost_with_notice",
    ),
    "one_endpoint": Found(
        (1_629, 9_327, 13),
        violated={"order_kept": 12},
        holds="order_at_one_replica change_is_noticed order_lost_with_notice",
    ),
    "either": Found(
        (16_212, 72_375, 15),
        violated={"change_is_noticed": 4, "order_lost_with_notice": 9},
        holds="order_at_one_replica at_most_once",
    ),
    "sent_again": Found(
        (445, 2_073, 10),
        violated={"change_is_noticed": 4, "order_lost_with_notice": 9, "at_most_once": 8},
        holds="order_at_one_replica",
    ),
    "not_sent_again": Found(
        (1_411, 6_483, 11),
        violated={"order_kept": 8},
        holds="order_at_one_replica change_is_noticed order_lost_with_notice at_most_once",
    ),
    "done_alone": Found(
        (162_089, 854_462, 19),
        violated={"acknowledged_survives": 3},
    ),
    "never_again": Found(
        (559_259, 3_042_530, 31),
        violated={"acknowledged_survives": 8},
    ),
    "already_is_failure": Found(
        (30_640, 171_361, 19),
        violated={"subscriber_succeeds": 10},
        holds="acknowledged_survives",
    ),
    "transient": Found(
        (10_757, 42_611, 16),
        violated={"acknowledged_survives": 5},
    ),
    "no_group_again": Found(
        (119_188, 642_686, 29),
        violated={"subscriber_succeeds": 7, "request_ends": 7, "failed_is_removed": 16},
        holds="acknowledged_survives",
    ),
    "any_order": Found(
        (49, 228, 7),
        violated={"order_at_one_replica": 7, "order_lost_with_notice": 7},
    ),
}

TABLE = Table("icestorm_clients", PINNED)
