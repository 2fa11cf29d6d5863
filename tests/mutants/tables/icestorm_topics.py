"""IceStorm topics, and what breaks them: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (61_220, 285_036, 15),
        reached={"figure": 7},
        holds="one_hop costs_respected at_most_once in_order one_topic_of_a_name "
        "subscription_ends_by_error_or_request error_ends_subscription nothing_after_end "
        "all_arrives subscriber_comes_back once_in_all order_across_topics subscriber_knows "
        "taken_is_delivered links_stay",
    ),
    "chain": Found(
        (138, 554, 9),
        holds="one_hop costs_respected at_most_once in_order one_topic_of_a_name "
        "subscription_ends_by_error_or_request error_ends_subscription nothing_after_end "
        "all_arrives subscriber_comes_back once_in_all order_across_topics subscriber_knows "
        "taken_is_delivered links_stay",
    ),
    "cycle": Found(
        (9_398, 42_552, 12),
        holds="one_hop costs_respected at_most_once in_order all_arrives once_in_all",
    ),
    "two_ways": Found(
        (76, 226, 8),
        violated={"once_in_all": 5, "order_across_topics": 6},
        reached={"by_two_ways": 5},
        holds="at_most_once in_order all_arrives",
    ),
    "two_ways_at_a_cost": Found(
        (164, 498, 8),
        violated={"once_in_all": 5},
        holds="costs_respected at_most_once",
    ),
    "made_by_clients": Found(
        (187, 648, 10),
        holds="one_topic_of_a_name subscription_ends_by_error_or_request all_arrives subscriber_comes_back",
    ),
    "subscriber_crash": Found(
        (2_214, 7_824, 14),
        violated={"taken_is_delivered": 4},
        holds="one_hop costs_respected at_most_once in_order one_topic_of_a_name "
        "subscription_ends_by_error_or_request error_ends_subscription nothing_after_end "
        "all_arrives subscriber_comes_back once_in_all order_across_topics subscriber_knows "
        "links_stay",
    ),
    "cut_off": Found(
        (200, 441, 10),
        violated={"subscriber_knows": 4, "taken_is_delivered": 4},
        holds="one_hop costs_respected at_most_once in_order one_topic_of_a_name "
        "subscription_ends_by_error_or_request error_ends_subscription nothing_after_end "
        "all_arrives subscriber_comes_back once_in_all order_across_topics links_stay",
    ),
    "told_nothing": Found(
        (49, 72, 7),
        violated={"subscriber_comes_back": 5, "subscriber_knows": 4},
        holds="error_ends_subscription all_arrives",
    ),
    "exception": Found(
        (381, 1_120, 9),
        violated={"subscriber_knows": 3, "taken_is_delivered": 3},
        holds="at_most_once subscription_ends_by_error_or_request error_ends_subscription all_arrives "
        "subscriber_comes_back",
    ),
    "more_attempts": Found(
        (110, 221, 8),
        violated={"taken_is_delivered": 3},
        reached={"after_an_error": 3},
        holds="at_most_once in_order error_ends_subscription all_arrives subscriber_knows",
    ),
    "attempts_used_up": Found(
        (178, 333, 9),
        violated={"subscriber_knows": 6, "taken_is_delivered": 3},
        holds="at_most_once in_order all_arrives",
    ),
    "same_again": Found(
        (29, 61, 6),
        violated={"at_most_once": 4},
        holds="in_order all_arrives subscriber_knows taken_is_delivered",
    ),
    "unlimited": Found(
        (658, 1_699, 15),
        violated={"taken_is_delivered": 4},
        holds="at_most_once in_order subscription_ends_by_error_or_request all_arrives subscriber_knows",
    ),
    "unordered": Found(
        (99, 316, 8),
        violated={"in_order": 5},
        holds="at_most_once all_arrives",
    ),
    "side_by_side": Found(
        (477, 1_519, 9),
        violated={"in_order": 5, "subscriber_knows": 3},
        holds="at_most_once error_ends_subscription all_arrives",
    ),
    "oneway": Found(
        (104, 194, 9),
        violated={"all_arrives": 5},
        holds="at_most_once in_order error_ends_subscription subscriber_comes_back",
    ),
    "datagram": Found(
        (189, 489, 10),
        violated={"in_order": 7, "all_arrives": 4},
        holds="at_most_once subscription_ends_by_error_or_request subscriber_knows",
    ),
    "leaving": Found(
        (704, 1_875, 12),
        holds="at_most_once subscription_ends_by_error_or_request nothing_after_end all_arrives",
    ),
    "leaving_oneway": Found(
        (42, 63, 8),
        violated={"nothing_after_end": 5},
        holds="at_most_once subscription_ends_by_error_or_request",
    ),
    "service_crash": Found(
        (9_042, 29_473, 17),
        violated={"taken_is_delivered": 4},
        holds="one_hop at_most_once in_order subscription_ends_by_error_or_request all_arrives "
        "subscriber_comes_back subscriber_knows",
    ),
    "transient": Found(
        (3_687, 8_847, 16),
        violated={"subscription_ends_by_error_or_request": 3, "taken_is_delivered": 4, "links_stay": 2},
        holds="one_hop at_most_once all_arrives subscriber_comes_back",
    ),
    "lost_publication": Found(
        (146, 476, 8),
        holds="at_most_once in_order all_arrives",
    ),
    "repeated_publication": Found(
        (398, 1_376, 10),
        violated={"at_most_once": 5},
        holds="in_order all_arrives",
    ),
    "goes_further": Found(
        (415, 1_806, 11),
        violated={"one_hop": 3},
        holds="costs_respected at_most_once",
    ),
    "links_both_ways": Found(
        (232, 720, 8),
        violated={"one_hop": 3},
        holds="costs_respected at_most_once",
    ),
    "costs_ignored": Found(
        (493, 1_544, 8),
        violated={"costs_respected": 3},
        holds="one_hop at_most_once",
    ),
    "create_replaces": Found(
        (326, 922, 12),
        violated={"one_topic_of_a_name": 4, "subscription_ends_by_error_or_request": 5},
        holds="subscriber_comes_back",
    ),
    "keeps_failing": Found(
        (381, 1_248, 9),
        violated={"error_ends_subscription": 3},
        holds="subscription_ends_by_error_or_request subscriber_knows",
    ),
    "leaves_queue": Found(
        (273, 718, 9),
        violated={"nothing_after_end": 4},
        holds="at_most_once",
    ),
}

TABLE = Table("icestorm_topics", PINNED)
