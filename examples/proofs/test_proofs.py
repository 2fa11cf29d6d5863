"""The checks of the specs here come out as the files say. Run `pytest examples/proofs`."""

from pathlib import Path

from hacheck.testing import spec_test

test_lock_servers = spec_test(Path(__file__).with_name("lock_servers.ha"))
test_quorum_election = spec_test(Path(__file__).with_name("quorum_election.ha"))
