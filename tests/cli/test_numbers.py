"""Each number on a command line has a range, and one outside of it is refused at once, with the range."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from hacheck.cli.command_line import Option, parameters_of
from hacheck.cli.commands import COMMANDS
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.options import parse_count, parse_seconds, parse_size
from tests.cli.command import hacheck

HUGE = "9" * 26
NUMBERS = [
    (command.name, item.declared.names[0], item.declared)
    for command in COMMANDS
    for item in parameters_of(getattr(import_module(command.module), command.function))
    if item.type is int and isinstance(item.declared, Option)
]
LEADING = {
    "simulate-impl": ["icestorm"],
    "check-impl": ["icestorm"],
    "cluster": ["start", "icestorm"],
    "admin": ["subscribe", "x"],
    "simulate": ["icestorm"],
    "conform": ["icestorm", "nowhere.jsonl"],
    "explore": ["icestorm"],
    "replay": ["icestorm"],
    "monitor": ["icestorm", "nowhere", "--results", "out"],
    "traces": ["validate", "nowhere.jsonl"],
}


@pytest.mark.parametrize(("command", "name", "declared"), NUMBERS, ids=[f"{a} {b}" for a, b, _ in NUMBERS])
def test_number_has_a_range_that_is_named(
    command: str, name: str, declared: Option, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert declared.most is not None
    for number in (str(declared.most + 1), HUGE, "9" * 5000):
        ended = hacheck(command, *LEADING[command], name, number, columns=200)
        assert ended.code == ExitCode.BAD_INPUT
        assert name in ended.err
    assert str(declared.most) in hacheck(command, *LEADING[command], name, HUGE, columns=200).err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--states", "--jobs", "--depth", "--points", "--schedules"])
@pytest.mark.parametrize("text", [HUGE, "9" * 400, "9999999999e9M", "9" * 5000])
def test_counts_have_a_range(option: str, text: str) -> None:
    with pytest.raises(BadInput, match=f"{option} .*: larger than"):
        parse_count(option, text)


def test_count_beyond_its_range_names_it() -> None:
    with pytest.raises(BadInput, match="--threads 2000: larger than 1,024"):
        parse_count("--threads", "2000")
    with pytest.raises(BadInput, match="larger than 1,000,000,000,000,000"):
        parse_count("--states", "9" * 400)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 20, "9999999999h"])
def test_times_and_sizes_have_a_range(text: str) -> None:
    with pytest.raises(BadInput, match="longer than a year"):
        parse_seconds(text)
    with pytest.raises(BadInput, match="more than 1024 TiB"):
        parse_size(text.replace("h", "000G"))


@pytest.mark.parametrize("text", ["0.1", "0", "0.0k", "k"])
def test_less_than_a_byte_is_no_size(text: str) -> None:
    with pytest.raises(BadInput, match="not a size"):
        parse_size(text)


@pytest.mark.parametrize("protocol", ["icestorm", "qpid", "artemis-client", "fiorano-shared"])
@pytest.mark.parametrize("number", [HUGE, "9" * 5000, "٣", "1_0", "-7"])
def test_numbers_of_a_protocol_have_a_range(protocol: str, number: str) -> None:
    setting = {"icestorm": "client_period_us", "qpid": "check_interval_us"}.get(protocol, "call_timeout_us")
    setting = "heartbeat_us" if protocol == "fiorano-shared" else setting
    ended = hacheck(
        "simulate-impl", protocol, "--seeds", "1", "--seconds", "1", "--jobs", "1", "--set", f"{setting}={number}"
    )
    assert ended.code == ExitCode.BAD_INPUT, ended
