"""HA IceStorm, and what breaks it: every check of the spec finds exactly what is pinned here, at its shortest length.

Each check is explored in full, every state of it, and once more with reductions; the table also has the near-misses:
what must hold although something like it breaks. Checks that run by request are left out.
"""

from __future__ import annotations

from tests.mutants.table import Found, Table

PINNED: dict[str, Found] = {
    "default": Found(
        (1_173_748, 4_465_729, 109),
        violated={
            "acknowledged_survives": 28,
            "acknowledged_is_stored": 36,
            "deposed_never_acknowledges": 28,
            "stamps_never_fall": 30,
            "stamps_tell_databases_apart": 23,
            "full_start_first": 14,
            "majority_serves": 12,
            "one_coordinator": 21,
            "a_majority_serves": 7,
            "one_view": 7,
            "serving_replicas_agree": 26,
            "reads_are_current": 18,
        },
        reached={"served": 10, "unknown_outcome": 12},
        holds="reorganization_ends never_wedged minority_steps_down highest_id_leads",
    ),
    "smoke": Found(
        (30, 105, 10),
        reached={"served": 10},
        holds="acknowledged_survives deposed_never_acknowledges stamps_never_fall full_start_first "
        "majority_serves highest_id_leads one_coordinator reads_are_current",
    ),
    "any_coordinator_first": Found(
        (604_470, 2_183_643, 63),
        violated={
            "full_start_first": 14,
            "majority_serves": 12,
            "highest_id_leads": 7,
            "one_coordinator": 21,
            "a_majority_serves": 7,
            "one_view": 7,
            "reads_are_current": 18,
        },
        reached={"served": 10, "unknown_outcome": 20},
        holds="reorganization_ends never_wedged "
        "acknowledged_survives acknowledged_is_stored deposed_never_acknowledges stamps_never_fall "
        "stamps_tell_databases_apart minority_steps_down serving_replicas_agree",
    ),
    "power_failure": Found(
        (124_274, 443_211, 60),
        violated={
            "full_start_first": 14,
            "majority_serves": 12,
            "one_coordinator": 21,
            "a_majority_serves": 7,
            "one_view": 7,
            "reads_are_current": 18,
        },
        reached={"served": 10, "unknown_outcome": 20},
        holds="reorganization_ends never_wedged "
        "acknowledged_survives acknowledged_is_stored deposed_never_acknowledges stamps_never_fall "
        "stamps_tell_databases_apart minority_steps_down highest_id_leads serving_replicas_agree",
    ),
    "pause": Found(
        (528_965, 2_024_081, 86),
        violated={
            "acknowledged_survives": 28,
            "acknowledged_is_stored": 37,
            "deposed_never_acknowledges": 28,
            "stamps_never_fall": 31,
            "stamps_tell_databases_apart": 23,
            "full_start_first": 14,
            "majority_serves": 12,
            "one_coordinator": 17,
            "a_majority_serves": 7,
            "one_view": 7,
            "serving_replicas_agree": 27,
            "reads_are_current": 11,
        },
        reached={"served": 10, "unknown_outcome": 12},
        holds="reorganization_ends never_wedged minority_steps_down highest_id_leads",
    ),
    "cut": Found(
        (476_213, 1_910_089, 86),
        violated={
            "acknowledged_survives": 27,
            "acknowledged_is_stored": 37,
            "deposed_never_acknowledges": 27,
            "stamps_never_fall": 30,
            "stamps_tell_databases_apart": 23,
            "full_start_first": 14,
            "majority_serves": 12,
            "one_coordinator": 18,
            "a_majority_serves": 7,
            "one_view": 7,
            "serving_replicas_agree": 27,
            "reads_are_current": 11,
        },
        reached={"served": 10, "unknown_outcome": 12},
        holds="reorganization_ends never_wedged minority_steps_down highest_id_leads",
    ),
    "recovers": Found(
        (2_674, 9_454, 40),
        holds="majority_serves minority_steps_down",
    ),
    "split_calls": Found(
        (116_715, 497_367, 79),
        violated={
            "full_start_first": 26,
        },
        reached={"served": 22},
        holds="acknowledged_survives deposed_never_acknowledges stamps_never_fall",
    ),
    "smallest_cure": Found(
        (699_047, 2_670_385, 91),
        violated={"acknowledged_survives": 38, "acknowledged_is_stored": 36},
        reached={"served": 10},
        holds="deposed_never_acknowledges stamps_never_fall",
    ),
    "hardened": Found(
        (616_982, 2_297_564, 70),
        violated={
            "majority_serves": 12,
            "one_coordinator": 22,
            "a_majority_serves": 7,
            "one_view": 7,
            "reads_are_current": 18,
        },
        reached={"served": 10, "unknown_outcome": 12},
        holds="reorganization_ends never_wedged "
        "acknowledged_survives acknowledged_is_stored deposed_never_acknowledges stamps_never_fall "
        "stamps_tell_databases_apart full_start_first minority_steps_down highest_id_leads serving_replicas_agree",
    ),
    "changes_in_parallel": Found(
        (58_621, 213_289, 67),
        violated={
            "acknowledged_survives": 25,
            "acknowledged_is_stored": 31,
            "stamps_never_fall": 12,
            "stamps_tell_databases_apart": 11,
        },
        reached={"served": 10},
        holds="deposed_never_acknowledges",
    ),
    "hardened_changes_in_parallel": Found(
        (34_579, 126_889, 62),
        violated={
            "acknowledged_survives": 25,
            "acknowledged_is_stored": 31,
            "stamps_never_fall": 12,
            "stamps_tell_databases_apart": 11,
        },
        holds="deposed_never_acknowledges",
    ),
    "hardened_pause": Found(
        (246_372, 955_605, 57),
        reached={"served": 10},
        holds="acknowledged_survives acknowledged_is_stored deposed_never_acknowledges full_start_first",
    ),
    "hardened_cut": Found(
        (208_802, 857_980, 57),
        reached={"served": 10},
        holds="acknowledged_survives acknowledged_is_stored deposed_never_acknowledges full_start_first",
    ),
    "as_released": Found(
        (1_085_909, 3_393_591, 114),
        violated={
            "acknowledged_survives": 23,
            "acknowledged_is_stored": 26,
            "deposed_never_acknowledges": 23,
            "stamps_never_fall": 6,
            "stamps_tell_databases_apart": 10,
            "full_start_first": 14,
            "unknown_outcome": None,
            "majority_serves": 15,
            "highest_id_leads": 21,
            "one_coordinator": 21,
            "a_majority_serves": 7,
            "one_view": 7,
            "serving_replicas_agree": 28,
            "reads_are_current": 18,
        },
        reached={"served": 10},
        holds="reorganization_ends never_wedged minority_steps_down",
    ),
    "stamp_wiped": Found(
        (58_942, 225_694, 60),
        violated={
            "acknowledged_survives": 30,
            "acknowledged_is_stored": 28,
            "stamps_never_fall": 6,
        },
    ),
    "own_stamp_ignored": Found(
        (24_017, 83_935, 76),
        violated={
            "acknowledged_survives": 37,
            "stamps_never_fall": 24,
        },
        holds="deposed_never_acknowledges",
    ),
    "rejection_taken_for_success": Found(
        (420_254, 1_583_179, 63),
        violated={
            "acknowledged_survives": 20,
            "deposed_never_acknowledges": 20,
        },
    ),
    "full_disk": Found(
        (12_162, 44_633, 51),
        holds="majority_serves",
    ),
    "full_disk_blocks": Found(
        (12_376, 45_040, 45),
        violated={
            "majority_serves": 33,
        },
    ),
    "idle_coordinator": Found(
        (403_446, 1_475_458, 66),
        violated={
            "minority_steps_down": 13,
        },
    ),
    "resynchronised_by_key": Found(
        (1_127_515, 4_157_054, 73),
        violated={
            "acknowledged_survives": 28,
            "stamps_tell_databases_apart": 19,
        },
    ),
    "one_host_stays_down": Found(
        (2_674, 9_454, 40),
        violated={"majority_serves": 7},
    ),
    "last_leader": Found(
        (19_074, 67_172, 61),
        violated={
            "acknowledged_survives": 26,
            "acknowledged_is_stored": 26,
        },
    ),
    "lost_by_overlap": Found(
        (817_786, 2_467_871, 104),
        violated={
            "acknowledged_survives": 23,
            "deposed_never_acknowledges": 23,
        },
        reached={"served": 10},
    ),
    "wedged": Found(
        (2_851_300, 11_940_027, 88),
        violated={"reorganization_ends": 33, "never_wedged": 28},
    ),
    "wedged_all_the_same": Found(
        (2_850_845, 11_938_780, 88),
        violated={"never_wedged": 28},
    ),
    "cure_wedge": Found(
        (784_790, 3_070_583, 67),
        reached={"served": 10},
        holds="never_wedged",
    ),
    "interrupted": Found(
        (80_441, 251_259, 69),
        violated={
            "never_wedged": 16,
            "reorganization_ends": 24,
        },
    ),
    "guarded": Found(
        (25_821, 86_352, 64),
        holds="never_wedged reorganization_ends",
        reached={"served": 12},
    ),
    "no_majority": Found(
        (456_316, 1_840_726, 58),
        violated={
            "acknowledged_survives": 20,
            "deposed_never_acknowledges": 20,
        },
    ),
    "no_full_start": Found(
        (1_141_661, 4_292_902, 68),
        violated={
            "acknowledged_survives": 17,
            "acknowledged_is_stored": 30,
            "deposed_never_acknowledges": 17,
            "full_start_first": 7,
        },
    ),
}

TABLE = Table(
    "icestorm",
    PINNED,
    portable_max=0,  # compiled code explores all of them
    # without reductions generations have a bound, within which these find less, and `wedged` has 75 million states
    only_reduced=("default", "pause", "cut", "smallest_cure", "wedged", "wedged_all_the_same", "cure_wedge"),
    unreached={
        "unknown_outcome": "`as_released` takes a rejection for success, and one crash alone leaves a majority",
    },
)
