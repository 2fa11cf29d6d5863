"""The checks of vrrp.ha come out as the file says. Run `pytest examples/vrrp`."""

from pathlib import Path

from hacheck.testing import spec_test

test_vrrp = spec_test(Path(__file__).with_name("vrrp.ha"))
