"""The checks of lease.ha come out as the file says."""

from pathlib import Path

from hacheck.testing import spec_test

test_lease = spec_test(Path(__file__).with_name("lease.ha"))
