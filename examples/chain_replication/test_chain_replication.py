"""The checks of chain_replication.ha come out as the file says. Run `pytest examples/chain_replication`."""

from pathlib import Path

from hacheck.testing import spec_test

test_chain_replication = spec_test(Path(__file__).with_name("chain_replication.ha"))
