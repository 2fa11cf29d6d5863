"""The checks of patroni.ha come out as the file says. Run `pytest examples/patroni`."""

from pathlib import Path

from hacheck.testing import spec_test

test_patroni = spec_test(Path(__file__).with_name("patroni.ha"))
