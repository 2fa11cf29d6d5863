"""The checks of viewstamped_replication.ha come out as the file says. Run `pytest examples/viewstamped_replication`."""

from pathlib import Path

from hacheck.testing import spec_test

test_viewstamped_replication = spec_test(Path(__file__).with_name("viewstamped_replication.ha"))
