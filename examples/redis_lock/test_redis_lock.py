"""The checks of redis_lock.ha come out as the file says. Run `pytest examples/redis_lock`."""

from pathlib import Path

from hacheck.testing import spec_test

test_redis_lock = spec_test(Path(__file__).with_name("redis_lock.ha"))
