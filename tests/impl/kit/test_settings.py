"""Settings from text: one syntax for all protocols."""

from __future__ import annotations

from typing import Literal

import pytest

from hacheck.impl import systems
from hacheck.impl.kit.settings import FromMinusOne, OrUnlimited, OrZero, Settings, read_settings
from hacheck.impl.system import Refused


class Example(Settings, frozen=True, kw_only=True):
    """One setting of each kind."""

    ping_us: int = 1
    pause_us: OrZero = 1
    answers: Literal["both", "own"] = "both"
    durable: bool = False
    size: int = 1
    retries: OrUnlimited = -1
    attempts: FromMinusOne = 0


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("ping_us", "2500", "ping_us", 2500),
        ("ping", "3s", "ping_us", 3_000_000),
        ("ping-us", "1.5ms", "ping_us", 1500),
        ("ping", " 2 min ", "ping_us", 120_000_000),
        ("pause_us", "0", "pause_us", 0),
        ("answers", "own", "answers", "own"),
        *(("durable", text, "durable", True) for text in ("true", "yes", "on", "1", "True")),
        *(("durable", text, "durable", False) for text in ("false", "no", "off", "0")),
        ("size", "7", "size", 7),
        ("retries", "-1", "retries", -1),
        ("attempts", "-1", "attempts", -1),
    ],
)
def test_value_is_read_by_the_type_of_its_field(name: str, text: str, field: str, value: object) -> None:
    changed = {"durable": "true", name: text}  # so that no value is just the default
    assert getattr(read_settings(Example, changed), field) == value


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("pingg", "1", "no setting `pingg`; did you mean `ping_us`?"),
        ("zzz", "1", "no setting `zzz`: there are answers, attempts, "),
        ("ping", "0s", "`ping_us` is a time above 0 to 30 years"),
        ("pause", "-1", "`pause_us` is a time such as `500ms`"),
        ("pause", "40000000min", "a time from 0 to 30 years"),
        ("ping", "3 weeks", "`ping_us` is a time such as"),
        ("answers", "bth", "is one of both, own, not `bth`; try `both`"),
        ("durable", "perhaps", "`durable` is `true` or `false`, not `perhaps`"),
        ("size", "0", "a whole number from 1 to"),
        ("size", "3s", "a whole number from 1 to"),
        ("retries", "0", "from 1 to 1000000000000000, or -1 for no limit"),
        ("attempts", "-2", "a whole number from -1 to"),
    ],
)
def test_wrong_setting_is_refused_with_what_it_may_be(name: str, text: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        read_settings(Example, {name: text})


def test_setting_given_under_two_spellings_is_refused() -> None:
    with pytest.raises(Refused, match="`ping_us` is set twice, the second time as `ping-us`"):
        read_settings(Example, {"ping": "1s", "ping-us": "2"})


@pytest.mark.parametrize("protocol", systems.names())
def test_every_protocol_reads_times_and_truth_values_in_every_spelling(protocol: str) -> None:
    system = systems.system(protocol)
    names = {
        **dict.fromkeys(("icestorm", "icestorm-topics"), ("master_timeout", "transient")),
        **dict.fromkeys(("fiorano-replicated", "fiorano-shared"), ("lock_check", "detect_duplicates")),
        **dict.fromkeys(("qpid", "qpid-standalone"), ("watchdog", "store")),
    }
    time, truth = names.get(protocol, ("connection_ttl", "restart_backup"))
    one = system.options({time: "7s", truth: "yes"})
    assert one == system.options({f"{time}_us".replace("_", "-"): "7000000", truth: "true"})
    assert one != system.options({})
