"""The checks of two_phase_commit.ha come out as the file says. Run `pytest examples/two_phase_commit`."""

from pathlib import Path

from hacheck.testing import spec_test

test_two_phase_commit = spec_test(Path(__file__).with_name("two_phase_commit.ha"))
