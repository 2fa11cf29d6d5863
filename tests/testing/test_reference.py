"""The reference implementation beside its specs: what random runs found, each a small run that is done again.

`docs/decisions/0019-the-code-and-the-specs.md` says what was wrong, and by which document.
"""

from __future__ import annotations

from hacheck.testing import do, replay
from hacheck.testing.simulated import adapter_for

Icestorm = adapter_for("icestorm")


def test_a_member_that_fails_at_the_last_update_before_an_election_is_invited() -> None:
    """Real IceStorm HA, 2 (3) and (5): only a check drops members; old ones are invited."""
    replay(
        Icestorm,
        [
            do("wait", seconds=10.0),
            do("wait", seconds=2.0),
            do("wait", seconds=2.0),
            do("wait", seconds=10.0),
            do("wait", seconds=2.0),
            do("fault_cut", one="replica-1", other="replica-3", seconds=3.0),
            do("fault_crash", member="replica-1", seconds=5.0),
            do("wait", seconds=0.01),
            do("wait", seconds=2.0),
            do("fault_cut", one="replica-2", other="replica-3", seconds=15.0),
            do("fault_pause", member="replica-3", seconds=3.0),
            do("wait", seconds=10.0),
        ],
    )
