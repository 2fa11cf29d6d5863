"""The checks of the specs here come out as the files say. Run `pytest examples/timing`."""

from pathlib import Path

from hacheck.testing import spec_test

test_lease = spec_test(Path(__file__).with_name("lease.ha"))
