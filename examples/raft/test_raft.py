"""The checks of raft.ha come out as the file says. Run `pytest examples/raft`."""

from pathlib import Path

from hacheck.testing import spec_test

test_raft = spec_test(Path(__file__).with_name("raft.ha"))
