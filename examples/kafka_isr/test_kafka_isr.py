"""The checks of kafka_isr.ha come out as the file says. Run `pytest examples/kafka_isr`."""

from pathlib import Path

from hacheck.testing import spec_test

test_kafka_isr = spec_test(Path(__file__).with_name("kafka_isr.ha"))
