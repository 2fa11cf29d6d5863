"""The checks of pair.ha come out as the file says. Run `pytest examples/pair`."""

from pathlib import Path

from hacheck.testing import spec_test

test_pair = spec_test(Path(__file__).with_name("pair.ha"))
