"""The checks of drbd_pacemaker.ha come out as the file says. Run `pytest examples/drbd_pacemaker`."""

from pathlib import Path

from hacheck.testing import spec_test

test_drbd_pacemaker = spec_test(Path(__file__).with_name("drbd_pacemaker.ha"))
