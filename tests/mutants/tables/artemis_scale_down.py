"""Scaling down, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (1_350, 3_006, 17),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "at_once": Found(
        (584, 1_298, 15),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "groups": Found(
        (2_955, 10_434, 15),
        violated={"order_kept": 6, "p10_messages_available": 4, "clients_come_back": 9},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there",
    ),
    "in_doubt": Found(
        (740, 1_872, 13),
        holds="p2_acked_survives p6_exactly_once one_place state_is_there",
    ),
    "in_doubt_after_crash": Found(
        (2_996, 8_050, 16),
        violated={"p6_exactly_once": 8, "one_place": 5},
        holds="p2_acked_survives",
    ),
    "backups": Found(
        (202, 426, 12),
        violated={"order_kept": 7},
        reached={"moved": 9},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "backups_and_a_stop": Found(
        (2_128, 5_140, 15),
        violated={"p6_exactly_once": 8, "clients_come_back": 5},
    ),
    "backups_and_two_crashes": Found(
        (1_446, 3_432, 16),
        violated={"p6_exactly_once": 9, "clients_come_back": 9},
    ),
    "connector": Found(
        (594, 1_788, 11),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "in_process": Found(
        (202, 426, 12),
        violated={"order_kept": 7},
        reached={"moved": 9},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "in_process_alone": Found(
        (82, 188, 8),
        violated={"p10_messages_available": 3},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "crash": Found(
        (6_042, 17_506, 20),
        violated={
            "p6_exactly_once": 10,
            "one_place": 7,
            "order_kept": 6,
            "p10_messages_available": 3,
            "clients_come_back": 5,
        },
        reached={"moved": 6},
        holds="p2_acked_survives p7_prepared_survives group_kept state_is_there",
    ),
    "crash_at_the_end": Found(
        (6_554, 19_182, 21),
        violated={"p6_exactly_once": 10, "one_place": 7},
        holds="p2_acked_survives",
    ),
    "crash_of_backed_up": Found(
        (2_128, 5_140, 15),
        violated={"p6_exactly_once": 8},
        holds="p2_acked_survives one_place p7_prepared_survives p10_messages_available",
    ),
    "crash_with_another_target": Found(
        (26_328, 85_737, 20),
        violated={"p6_exactly_once": 8, "one_place": 8, "p10_messages_available": 6},
    ),
    "few_attempts": Found(
        (276, 522, 13),
        violated={"clients_come_back": 5},
        holds="p2_acked_survives",
    ),
    "removes_first": Found(
        (2_116, 5_782, 17),
        violated={"p2_acked_survives": 4},
        holds="p6_exactly_once one_place",
    ),
    "lets_in_early": Found(
        (580, 1_300, 13),
        violated={"p6_exactly_once": 6, "state_is_there": 4},
        holds="p2_acked_survives",
    ),
    "ids_stay": Found(
        (534, 1_156, 13),
        violated={"p6_exactly_once": 8},
        holds="p2_acked_survives state_is_there",
    ),
    "no_duplicate_ids": Found(
        (824, 1_814, 14),
        violated={"p6_exactly_once": 2},
        holds="p2_acked_survives",
    ),
    "prepared_stay": Found(
        (176, 388, 11),
        violated={"p7_prepared_survives": 3},
        holds="p2_acked_survives",
    ),
    "ignores_group": Found(
        (1_032, 3_099, 11),
        violated={"group_kept": 2},
        holds="p2_acked_survives",
    ),
}

TABLE = Table("artemis_scale_down", PINNED)
