"""Scaling down, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (1_498, 3_202, 18),
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
        (3_243, 11_226, 16),
        violated={"order_kept": 6, "p10_messages_available": 4, "clients_come_back": 9, "p2_acked_survives": 12},
        reached={"moved": 6},
        holds="p6_exactly_once one_place p7_prepared_survives group_kept state_is_there",
    ),
    "in_doubt": Found(
        (838, 2_022, 14),
        holds="p2_acked_survives p6_exactly_once one_place state_is_there",
    ),
    "in_doubt_after_crash": Found(
        (3_060, 8_140, 16),
        violated={"one_place": 5},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "backups": Found(
        (212, 436, 13),
        violated={"order_kept": 7},
        reached={"moved": 9},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "backups_and_a_stop": Found(
        (2_186, 5_254, 15),
        violated={"clients_come_back": 5},
        holds="p6_exactly_once",
    ),
    "backups_and_two_crashes": Found(
        (1_392, 3_324, 16),
        violated={"clients_come_back": 9},
        holds="p6_exactly_once",
    ),
    "connector": Found(
        (663, 1_920, 12),
        violated={"order_kept": 6},
        reached={"moved": 6},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "in_process": Found(
        (212, 436, 13),
        violated={"order_kept": 7},
        reached={"moved": 9},
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives group_kept state_is_there "
        "p10_messages_available clients_come_back",
    ),
    "back_and_forth": Found(
        (2_434, 5_818, 22),
        violated={"p2_acked_survives": 11, "p10_messages_available": 6},
        holds="p6_exactly_once",
    ),
    "back_and_forth_mended": Found(
        (1_280, 3_290, 19),
        holds="p2_acked_survives p6_exactly_once",
    ),
    "in_process_alone": Found(
        (82, 188, 8),
        violated={"p10_messages_available": 3},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "crash": Found(
        (6_384, 18_442, 21),
        violated={
            "one_place": 7,
            "order_kept": 6,
            "p10_messages_available": 3,
            "clients_come_back": 5,
            "p2_acked_survives": 12,
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
        (2_186, 5_254, 15),
        holds="p2_acked_survives p6_exactly_once one_place p7_prepared_survives p10_messages_available",
    ),
    "crash_with_another_target": Found(
        (29_442, 93_555, 20),
        violated={"one_place": 8, "p10_messages_available": 6},
        holds="p6_exactly_once",
    ),
    "few_attempts": Found(
        (326, 574, 13),
        violated={"clients_come_back": 5},
        holds="p2_acked_survives",
    ),
    "removes_first": Found(
        (2_468, 6_660, 17),
        violated={"p2_acked_survives": 4},
        holds="p6_exactly_once one_place",
    ),
    "lets_in_early": Found(
        (584, 1_268, 13),
        violated={"state_is_there": 4},
        holds="p2_acked_survives p6_exactly_once",
    ),
    "ids_stay": Found(
        (518, 1_136, 13),
        holds="p2_acked_survives p6_exactly_once state_is_there",
    ),
    "no_duplicate_ids": Found(
        (922, 1_932, 15),
        violated={"p6_exactly_once": 2},
        holds="p2_acked_survives",
    ),
    "prepared_stay": Found(
        (198, 414, 12),
        violated={"p7_prepared_survives": 3},
        holds="p2_acked_survives",
    ),
    "ignores_group": Found(
        (1_170, 3_363, 12),
        violated={"group_kept": 2},
        holds="p2_acked_survives",
    ),
}

TABLE = Table("artemis_scale_down", PINNED)
