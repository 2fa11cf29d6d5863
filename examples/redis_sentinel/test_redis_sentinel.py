"""The checks of redis_sentinel.ha come out as the file says. Run `pytest examples/redis_sentinel`."""

from pathlib import Path

from hacheck.testing import spec_test

test_redis_sentinel = spec_test(Path(__file__).with_name("redis_sentinel.ha"))
