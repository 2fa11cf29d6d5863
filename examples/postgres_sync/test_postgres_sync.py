"""The checks of postgres_sync.ha come out as the file says. Run `pytest examples/postgres_sync`."""

from pathlib import Path

from hacheck.testing import spec_test

test_postgres_sync = spec_test(Path(__file__).with_name("postgres_sync.ha"))
