"""The checks of session_lock.ha come out as the file says. Run `pytest examples/session_lock`."""

from pathlib import Path

from hacheck.testing import spec_test

test_session_lock = spec_test(Path(__file__).with_name("session_lock.ha"))
