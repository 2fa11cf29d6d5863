"""Scaling down, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (1_750, 3_774, 19),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "at_once": Found(
        (644, 1_374, 16),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "groups": Found(
        (3_557, 12_416, 16),
        violated={"order_kept": 6, "p10_messages_available": 4, "clients_come_back": 9, "one_place": 11},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once p7_prepared_survives group_kept state_is_there",
    ),
    "in_doubt": Found(
        (954, 2_298, 15),
        holds="p2_acked_survives p6_exactly_once one_place state_is_there",
    ),
    "in_doubt_after_crash": Found(
        (3_466, 9_236, 17),
        violated={"one_place": 5},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "backups": Found(
        (242, 500, 14),
        violated={"order_kept": 7},
        reached={"moved": 10},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "backups_and_a_stop": Found(
        (2_450, 5_990, 16),
        violated={"clients_come_back": 5},
        holds="p6_exactly_once",
    ),
    "backups_and_two_crashes": Found(
        (1_574, 3_832, 17),
        violated={"clients_come_back": 10},
        holds="p6_exactly_once",
    ),
    "connector": Found(
        (744, 2_154, 13),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "in_process": Found(
        (242, 500, 14),
        violated={"order_kept": 7},
        reached={"moved": 10},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "back_and_forth": Found(
        (2_740, 6_542, 24),
        violated={"p2_acked_survives": 13, "p10_messages_available": 6},
        holds="p6_exactly_once",
    ),
    "back_and_forth_mended": Found(
        (1_580, 4_022, 21),
        holds="p2_acked_survives p6_exactly_once",
    ),
    "in_process_alone": Found(
        (82, 188, 8),
        violated={"p10_messages_available": 3},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "crash": Found(
        (6_780, 19_890, 23),
        violated={
            "one_place": 7,
            "order_kept": 6,
            "p10_messages_available": 3,
            "clients_come_back": 5,
            "p2_acked_survives": 17,
        },
        reached={"moved": 6},
        holds="p6_exactly_once p7_prepared_survives group_kept state_is_there",
    ),
    "crash_at_the_end": Found(
        (6_634, 19_570, 21),
        violated={"one_place": 7},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "crash_of_backed_up": Found(
        (2_450, 5_990, 16),
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives p10_messages_available",
    ),
    "crash_with_another_target": Found(
        (37_986, 122_901, 22),
        violated={"one_place": 8, "p10_messages_available": 6},
        holds="p6_exactly_once",
    ),
    "cure": Found(
        (146_394, 575_490, 23),
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place",
    ),
    "cure_backed_up": Found(
        (35_010, 115_341, 22),
        violated={"p10_messages_available": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place",
    ),
    "cure_without_target": Found(
        (186_963, 703_152, 24),
        violated={"one_place": 7},
    ),
    "cure_of_two": Found(
        (8_588, 26_502, 23),
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place",
    ),
    "cure_of_three": Found(
        (178_872, 725_505, 28),
        violated={"one_place": 14},
        holds="p2_acked_survives",
    ),
    "few_attempts": Found(
        (370, 658, 14),
        violated={"clients_come_back": 5},
        holds="p2_acked_survives",
    ),
    "removes_first": Found(
        (2_468, 6_660, 17),
        violated={"p2_acked_survives": 4},
        holds="p6_exactly_once one_place",
    ),
    "lets_in_early": Found(
        (666, 1_448, 14),
        violated={"state_is_there": 4},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "ids_stay": Found(
        (590, 1_296, 14),
        holds="p2_acked_survives p6_exactly_once state_is_there",
    ),
    "no_duplicate_ids": Found(
        (1_052, 2_212, 16),
        violated={"p6_exactly_once": 2},
        holds="p2_acked_survives",
    ),
    "prepared_stay": Found(
        (226, 474, 13),
        violated={"p7_prepared_survives": 3},
        holds="p2_acked_survives",
    ),
    "ignores_group": Found(
        (1_332, 3_831, 13),
        violated={"group_kept": 2},
        holds="p2_acked_survives",
    ),
}

TABLE = Table("artemis_scale_down", PINNED)
