"""Colocated backups, and what breaks it: every check finds exactly what is pinned, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (1_872, 7_536, 18),
        reached={"taken_over": 5},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p14_failback_loses_nothing "
        "backup_gone_after_failback one_backup own_process room_kept spread group_kept names_differ "
        "own_directories ports_differ remote_found gets_backup p10_someone_serves",
    ),
    "shared_store": Found(
        (1_872, 7_020, 18),
        reached={"taken_over": 5},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p14_failback_loses_nothing "
        "backup_gone_after_failback one_backup own_process room_kept spread group_kept names_differ "
        "own_directories ports_differ remote_found gets_backup p10_someone_serves",
    ),
    "three": Found(
        (331, 1_788, 9),
        holds="one_backup own_process room_kept spread names_differ ports_differ gets_backup",
    ),
    "three_for_two": Found(
        (403, 2_304, 9),
        holds="one_backup own_process room_kept spread names_differ ports_differ gets_backup",
    ),
    "no_requests": Found(
        (24, 40, 5),
        violated={"gets_backup": 0},
        holds="p1_one_serving",
    ),
    "few_retries": Found(
        (403, 2_106, 9),
        violated={"gets_backup": 15},
        holds="room_kept",
    ),
    "second_request": Found(
        (20_099, 103_767, 19),
        violated={"one_backup": 7},
        holds="p1_one_serving own_process room_kept spread",
    ),
    "lost_answers": Found(
        (2_753, 16_527, 12),
        violated={"one_backup": 5},
        holds="own_process room_kept spread",
    ),
    "groups": Found(
        (152, 692, 8),
        violated={"gets_backup": 9},
        holds="own_process room_kept group_kept",
    ),
    "groups_asked": Found(
        (32, 144, 7),
        holds="own_process room_kept group_kept gets_backup",
    ),
    "two_crashes": Found(
        (7_862, 34_108, 25),
        violated={"p2_acked_survives": 9, "p4_no_stale_copy_serves": 9, "p10_someone_serves": 5},
        reached={"taken_over": 5},
        holds="p1_one_serving p14_failback_loses_nothing backup_gone_after_failback one_backup "
        "own_process room_kept spread group_kept names_differ own_directories ports_differ "
        "remote_found gets_backup",
    ),
    "two_crashes_shared": Found(
        (7_862, 32_314, 25),
        violated={"p10_someone_serves": 5},
        reached={"taken_over": 5},
        holds="p1_one_serving p2_acked_survives p4_no_stale_copy_serves p14_failback_loses_nothing "
        "backup_gone_after_failback one_backup own_process room_kept spread group_kept names_differ "
        "own_directories ports_differ remote_found gets_backup",
    ),
    "never_asks_again": Found(
        (1_272, 5_240, 16),
        violated={"gets_backup": 13},
        holds="one_backup",
    ),
    "restarts": Found(
        (1_776, 7_160, 16),
        violated={"backup_gone_after_failback": 7},
        holds="p1_one_serving p14_failback_loses_nothing",
    ),
    "unnoticed": Found(
        (9_938, 44_050, 25),
        violated={"p2_acked_survives": 9, "p4_no_stale_copy_serves": 9, "p14_failback_loses_nothing": 11},
        holds="p1_one_serving",
    ),
    "unnoticed_three": Found(
        (291_005, 1_615_743, 28),
        violated={"p1_one_serving": 12},
    ),
    "no_look": Found(
        (1_776, 6_872, 16),
        violated={
            "p1_one_serving": 7,
            "p2_acked_survives": 8,
            "p4_no_stale_copy_serves": 8,
            "p14_failback_loses_nothing": 7,
        },
    ),
    "machine": Found(
        (403, 2_304, 9),
        holds="room_kept names_differ ports_differ",
    ),
    "ports_collide": Found(
        (331, 1_788, 9),
        violated={"ports_differ": 2},
        holds="room_kept names_differ",
    ),
    "numbers_running": Found(
        (390_544, 2_717_376, 25),
        violated={"names_differ": 13, "ports_differ": 13},
        holds="room_kept",
    ),
    "keeps_directories": Found(
        (1_872, 7_020, 18),
        violated={"p2_acked_survives": 6, "p4_no_stale_copy_serves": 6, "own_directories": 2},
    ),
    "moves_remote": Found(
        (1_872, 7_536, 18),
        violated={"remote_found": 2},
        holds="ports_differ",
    ),
    "asks_itself": Found(
        (120, 344, 9),
        violated={"own_process": 2},
        holds="room_kept",
    ),
    "number_not_compared": Found(
        (499, 3_090, 9),
        violated={"spread": 4},
        holds="own_process room_kept",
    ),
    "room_not_checked": Found(
        (331, 1_788, 9),
        holds="own_process room_kept spread",
    ),
    "nothing_checked": Found(
        (487, 3_006, 9),
        violated={"room_kept": 4, "spread": 4},
        holds="own_process",
    ),
    "ignores_group": Found(
        (331, 1_788, 9),
        violated={"group_kept": 2},
        holds="room_kept",
    ),
    "locks_fail": Found(
        (14_292, 70_600, 23),
        violated={"p1_one_serving": 12},
        holds="room_kept",
    ),
}

TABLE = Table("artemis_colocated", PINNED)
