"""An adapter of one's own: what it may say, and what is told where it says something wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.traces.adapters.adapter_files import from_toml, load
from hacheck.traces.findings import TracesError
from tests.traces.adapters.logs import read_logs, told

GOOD = """\
name = "mine"

[files]
name = '(?P<node>\\w+)\\.log'

[line]
head = '(?P<time>\\d+) (?P<level>[A-Z]+) '
continuation = ' '
time = "epoch_ms"

[[event]]
name = "took"
has = "took"
where = { level = ["INFO", "WARN"] }
pattern = 'took (?P<what>\\w+) in (?P<took>[\\d.]+) s(?P<late>, late)?: (?P<who>.*)'
fields.what = "string"
fields.took = "float"
fields.late = "bool"
fields.who = "strings"
fields.number = { type = "int", numbered = true }

[[nothing]]
name = "debug"
pattern = 'tick'
"""


def test_a_group_that_no_field_takes_is_refused() -> None:
    """It would be left out of the records without a word, and logs would conform whatever stands there."""
    with pytest.raises(TracesError) as found:
        from_toml(GOOD.replace('fields.took = "float"\n', ""), "mine.toml")
    assert found.value.message == "mine.toml:15: group took of the pattern is in no field"
    assert 'add fields.took = "int"' in str(found.value.hint)
    for pattern in (r"took (?:\w+)", r"took (?P<q>[#%])\w+(?P=q)", r"took (?P<a>x)?(?(a)y|z)", r"by (?P<node>\w+)"):
        event = f"[[event]]\nname = 'took'\nhas = 'took'\npattern = '{pattern}'\n"
        from_toml(GOOD[: GOOD.index("[[event]]")] + event, "mine.toml")


def test_adapter_in_a_file_reads_a_log(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    log = tmp_path / "a.log"
    log.write_text(
        "1700000000000 INFO took lock in 0.5 s, late: x, y\n"
        "1700000000001 DEBUG took lock in 0.5 s: x\n"
        "1700000000002 WARN took lock in 2 s: \n"
        "1700000000003 INFO tick\n"
        "1700000000004 INFO took lock in 1.2.3 s: z\n"
    )
    rows, tally, findings = read_logs(log, str(tmp_path / "mine.toml"))
    first = {"what": "lock", "took": 0.5, "late": True, "who": ["x", "y"], "number": 1}
    until_the_tick = {"log_until": 1_700_000_000_003_000_000}
    assert [told(row) for row in rows] == [
        ("a", "took", first | {"log_until": 1_700_000_000_001_000_000}),
        ("a", "took", {"what": "lock", "took": 2.0, "late": False, "who": [], "number": 2} | until_the_tick),
    ]
    assert (tally.nothing["debug"], tally.unknown.total(), tally.accounted) == (1, 1, 5)
    assert [(found.kind.value, found.line) for found in findings.first] == [("almost", 5)]


@pytest.mark.parametrize(
    ("before", "after", "line", "message", "hint"),
    [
        ("[files]", "[files", 3, "not TOML", "docs/adapters.md"),
        ('name = "mine"', 'nam = "mine"', 1, "unknown key 'nam'", "did you mean name?"),
        ('name = "mine"\n', "", 1, "has no text name", "name ="),
        ("head = '(?P<time>", "head = '(?P<when>", 7, "no group (?P<time>", "around the time stamp"),
        ("(?P<level>[A-Z]+) '", "(?P<level>[A-Z+) '", 7, "not a regular expression", "single quotes"),
        ("(?P<level>[A-Z]+) '", "(?P<level>[[A-Z]+) '", 7, "another Python: Possible nested set", "write \\"),
        ('"epoch_ms"', '"epoch_fortnights"', 9, "time ['epoch_fortnights']", "epoch_ms"),
        ('time = "epoch_ms"', 'time = "iso"\nzone = "Mars/Olympus"', 10, "no time zone 'Mars/Olympus'", "UTC"),
        ('time = "epoch_ms"', "clock_back_ms = -1", 9, "clock_back_ms -1", "milliseconds"),
        ('time = "epoch_ms"', "clock_back_ms = 1000000001", 9, "clock_back_ms 1000000001", "up to 1000000000"),
        ('time = "epoch_ms"', "clock_back_ms = true", 9, "clock_back_ms True", "milliseconds"),
        ("(?P<level>[A-Z]+) '", f"(?P<level>[A-Z]{{{'9' * 26}}}) '", 7, "not a regular expression", "single quotes"),
        ("(?P<what>", "(?P<wat>", 16, "no group (?P<what>", "around its value"),
        ('fields.took = "float"', 'fields.took = "number"', 17, "field took has no type", "there are: bool"),
        ('fields.took = "float"', 'fields.took = { typ = "float" }', 17, "unknown key 'typ'", "did you mean type?"),
        ('has = "took"', 'has = ""', 13, "has ['']", "list of texts"),
        ("where = {", "where = 3 #{", 14, "where", 'category = "Election"'),
        ("pattern = 'tick'\n", "", 22, "has no text pattern", "pattern ="),
        ("[[nothing]]", "[[noting]]", 22, "unknown key 'noting'", "did you mean nothing?"),
        ("[line]\n", "", 1, "no table [line]", "[line]"),
        ('name = "mine"', 'name = "mine"\nformat = "xml"', 2, "format 'xml'", "text, json or otlp"),
        ('name = "mine"', 'name = "mine"\norder = "best"', 2, "order 'best'", "per_node"),
    ],
)
def test_what_is_wrong_with_an_adapter_is_told_with_its_line(
    before: str, after: str, line: int, message: str, hint: str
) -> None:
    assert GOOD.count(before) >= 1
    with pytest.raises(TracesError) as raised:
        from_toml(GOOD.replace(before, after, 1), "mine.toml")
    assert raised.value.message.startswith(f"mine.toml:{line}: ")
    assert message in raised.value.message
    assert raised.value.hint is not None
    assert hint in raised.value.hint


def test_field_with_two_types_is_refused() -> None:
    more = '[[event]]\nname = "other"\npattern = \'(?P<took>.*)\'\nfields.took = "string"\n'
    with pytest.raises(TracesError, match=r"field took is string, and float in the event took") as raised:
        from_toml(GOOD + more, "mine.toml")
    assert raised.value.message.startswith(f"mine.toml:{len(GOOD.splitlines()) + 4}: ")


@pytest.mark.parametrize(("name", "hint"), [("icestrom", "did you mean icestorm?"), ("zzz", "there are: artemis")])
def test_adapter_that_is_not_there_is_told_with_those_that_are(name: str, hint: str) -> None:
    with pytest.raises(TracesError, match="no adapter") as raised:
        load(name)
    assert raised.value.hint is not None
    assert hint in raised.value.hint


BESIDE = """\
name = "hands"

[files]
name = 'hands\\.txt'
node = "-"

[line]
head = '(?P<time>\\d+) '
time = "epoch_ms"

[[event]]
name = "pulled"
pattern = 'pulled the plug of (?P<who>\\w+)'
fields.who = "strings"
"""


def test_files_beside_the_logs_are_read_by_adapters_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('beside = ["hands.toml"]\n' + GOOD)
    (tmp_path / "hands.toml").write_text(BESIDE)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("1000 INFO took it in 1.5 s: x\n3000 INFO took it in 1.5 s: y\n")
    (tmp_path / "logs" / "hands.txt").write_text("2000 pulled the plug of b\n")
    rows, tally, findings = read_logs(tmp_path / "logs", str(tmp_path / "mine.toml"))
    assert [(row["node"], row["event"], row["fields"]["who"]) for row in rows] == [
        ("a", "took", ["x"]),
        ("-", "pulled", ["b"]),
        ("a", "took", ["y"]),
    ]
    assert (tally.lines, tally.accounted, findings.total) == (3, 3, 0)


def test_adapters_beside_one_another_agree_and_have_none_beside_them(tmp_path: Path) -> None:
    (tmp_path / "hands.toml").write_text(BESIDE.replace('who = "strings"', 'who = "string"'))
    with pytest.raises(TracesError, match="field who is strings, and string in the event pulled"):
        from_toml('beside = ["hands.toml"]\n' + GOOD, str(tmp_path / "mine.toml"))
    (tmp_path / "hands.toml").write_text(BESIDE)
    (tmp_path / "more.toml").write_text('beside = ["hands.toml"]\n' + BESIDE.replace('name = "hands"', 'name = "more"'))
    with pytest.raises(TracesError, match=r"mine\.toml:1: .*has adapters beside it, too"):
        from_toml('beside = ["more.toml"]\n' + GOOD, str(tmp_path / "mine.toml"))
    with pytest.raises(TracesError, match="beside is not a list of names"):
        from_toml('beside = "hands"\n' + GOOD, "mine.toml")
