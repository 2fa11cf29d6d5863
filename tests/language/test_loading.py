"""Loading a spec: settings from outside, checks, libraries, bounds in words, and what a fault or handler becomes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from hacheck.model.system_text import parse_system, print_system
from tests.language.examples import examples, loaded, shipped
from tests.nightly import by_night

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))
SPECS = [*sorted((ROOT / "spec").glob("*.ha")), *sorted((ROOT / "bench").glob("*.ha"))]

TEXT = """system Settings "what can be set" source "A guide"
param n = 2 in 2..4 "how many"
param depth = 1 + 1
param calls = atomic in { atomic, split }
switch fenced = off "whether"
assumption prompt = on "answers are prompt"
node S[n] symmetric { v: 0..9 = depth }
action go(s: S) "goes" when fenced and prompt and calls == split do s.v := depth
faults { crash S up to 2, pause S up to 1 for good }
invariant small: every s: S satisfies s.v <= 9
check default "as it comes" expect all hold
check other with n = 3, fenced = on only small by request expect small violated
"""


def specification(text: str = TEXT) -> Specification:
    read = load(text, "settings.ha")
    assert read.specification is not None, read.diagnostics
    return read.specification


def system(settings: Mapping[str, str] | None = None, check: str | None = None) -> System:
    made = specification().instantiate(settings, check)
    assert made.system is not None, made.diagnostics
    return made.system


def test_head_settings_and_checks_are_shown_as_written() -> None:
    read = specification()
    assert (read.name, read.description, read.source) == ("Settings", "what can be set", "A guide")
    assert [(one.name, one.kind, one.default) for one in read.parameters] == [
        ("n", "param", "2"),
        ("depth", "param", "1 + 1"),
        ("calls", "param", "atomic"),
        ("fenced", "switch", "off"),
        ("prompt", "assumption", "on"),
    ]
    default, other = read.checks
    assert (default.description, default.by_request, default.only) == ("as it comes", False, ())
    assert (other.settings, other.only, other.by_request) == ((("n", "3"), ("fenced", "on")), ("small",), True)
    assert other.expect_violated == ("small",)


def test_settings_from_outside_go_before_those_of_a_check() -> None:
    made = system({"n": "4", "calls": "split", "prompt": "false"}, "other")
    assert dict(made.settings) == {"n": "4", "depth": "2", "calls": "split", "fenced": "on", "prompt": "off"}
    assert made.nodes[0].size == 4
    assert made.assumptions == ()
    assert system().assumptions == (("prompt", "answers are prompt"),)


@pytest.mark.parametrize(
    ("name", "value", "code", "hint"),
    [
        ("m", "3", "HA140", "settings are"),
        ("fence", "on", "HA140", "did you mean `fenced`?"),
        ("n", "9", "HA141", None),
        ("n", "many", "HA141", None),
        ("n", "2.5", "HA141", None),
        ("n", "9" * 40, "HA141", None),
        ("fenced", "1", "HA141", None),
        ("calls", "splat", "HA141", "did you mean `split`?"),
        ("n", "²", "HA141", None),
    ],
)
def test_wrong_setting_from_outside(name: str, value: str, code: str, hint: str | None) -> None:
    made = specification().instantiate({name: value})
    assert made.system is None
    (found,) = made.diagnostics
    assert found.code == code
    assert hint is None or hint in (found.hint or "")


def test_faults_are_told_in_words() -> None:
    assert system().faults == ("crash S, up to 2", "pause S, up to 1, for good")
    assert {action.name for action in system().actions} == {"crash S", "restart S", "pause S"}


def test_error_under_a_check_names_the_check() -> None:
    text = (
        'system A "x"\nparam n = 1 in 1..3\nnode S { v: 1..n = 1  w: n..2 = 2 }\ncheck wide with n = 3 expect all hold'
    )
    (found,) = load(text, "x.ha").diagnostics
    assert found.code == "HA111"
    assert [text[span.start : span.end] for span, _ in found.labels] == ["wide"]


def test_every_bound_is_said_in_words() -> None:
    text = (
        'system A "x"\nidentity G\nrecord R { q: sequence of 0..1 up to 2 }\n'
        "node S { r: R  g: G?  c: counter up to 3 }\nclock S up to 2\nmessage m() from S to S fifo up to 2\n"
        "operation o() from S to S\n"
        "action go(s: S) do s.g := fresh(G) send m() to s call o() at s s.r.q := s.r.q with 1 s.c := s.c + 1\n"
        "on m() at s from t do s.c := 0\nserve o() at s from t do s.c := 1\n"
    )
    made = specification(text).instantiate().system
    assert made is not None
    assert set(dict(made.bounds)) == {
        "G", "S.c", "time", "capacity of S.r", "capacity of R.q", "capacity of message.m", "calls of o",
    }  # fmt: skip
    assert all(words for _, words in made.bounds)


def test_library_in_a_folder_is_found_beside_the_file_that_uses_it() -> None:
    texts = {
        "lib/one.ha": 'library One "x" use "deep/two.ha" use "../common/base.ha"',
        "lib/deep/two.ha": 'library Two "x" define two = 2',
        "common/base.ha": 'library Base "x" use "../lib/one.ha" define three = 3',
    }
    text = 'system A "x" use "lib/one.ha" node S { v: 0..3 = two } invariant i: S.v < three'
    read = load(text, "spec.ha", texts.get)
    assert read.diagnostics == ()


def test_everything_declared_knows_its_line_and_a_library_s_its_file() -> None:
    libraries = {
        "lib.ha": 'library L "x"\n\n\naction late(s: S) do s.v := true\nlock K held by S freed late\n'
        "on lost K at s do s.v := true\non restart of s: S do s.v := true\n"
        "clock S up to 1 skew 1\nfaults { pause S up to 1 }\n"
    }
    text = (
        'system A "x"\nuse "lib.ha"\n\nnode S { v: bool }\naction go(s: S)\n  do s.v := true\n'
        "faults {\n  crash S\n}\ninvariant ok: true\nobserve gone of go shows v = n.v\ncheck default expect all hold\n"
    )
    specification = load(text, "spec.ha", libraries.get).specification
    assert specification is not None
    system = specification.instantiate().system
    assert system is not None
    places = {action.name: specification.place_of(action) for action in system.actions}
    known = {
        "go": "spec.ha:5", "late": "lib.ha:4", "lost_K": "lib.ha:6", "restart S": "lib.ha:7", "crash S": "spec.ha:8",
        "clock of S": "lib.ha:8", "pause S": "lib.ha:9",
    }  # fmt: skip
    assert {name: place for name, place in places.items() if place} == known
    assert {"resume S", "free K", "tick"} == set(places) - set(known)
    assert specification.place_of(system.properties[0]) == "spec.ha:10"
    assert (system.observations[0].line, specification.checks[0].line) == (11, 12)


def test_faults_without_a_budget_together_are_not_said_to_have_one() -> None:
    spec = 'system A "x"\nnode S { v: bool }\nfaults { crash S up to 1, all together TOGETHER }\n'
    made = [specification(spec.replace("TOGETHER", words)).instantiate().system for words in ("", "up to 2")]
    assert [None if one is None else one.faults for one in made] == [
        ("crash S, up to 1",),
        ("crash S, up to 1", "no more than 2 faults in all"),
    ]


def test_mistake_in_a_library_is_shown_there() -> None:
    libraries = {"lib.ha": 'library L "x"\ndefine wrong = 1 and true\n'}
    (found,) = load('system A "x" use "lib.ha" node S { v: bool }', "spec.ha", libraries.get).diagnostics
    assert (found.span.path, found.code) == ("lib.ha", "HA104")


@pytest.mark.parametrize("path", by_night(SPECS, lambda path: path.stem == "fiorano_replicated"))
def test_system_of_a_shipped_spec_is_printed_and_read_back(path: Path) -> None:
    read = shipped(path)
    assert read.specification is not None, read.diagnostics
    made = read.specification.instantiate()
    assert made.system is not None
    assert parse_system(print_system(made.system)) == made.system


def test_systems_of_all_cases_are_printed_and_read_back() -> None:
    for path in CASES:
        for example in examples(path):
            read = loaded(example).specification
            if read is not None:
                made = read.instantiate().system
                assert made is not None
                assert parse_system(print_system(made)) == made, example.where


@pytest.mark.parametrize(
    ("time", "nanoseconds"),
    [("7 ms", 7_000_000), ("7 s", 7_000_000_000), ("7 min", 420_000_000_000), ("7 h", 25_200_000_000_000)],
)
def test_times_of_a_check_are_in_their_units(time: str, nanoseconds: int) -> None:
    read = specification(TEXT.replace("expect all hold", f"expect all hold\n  restores small within {time}"))
    (restored,) = read.checks[0].restored
    assert (restored.name, restored.nanoseconds) == ("small", nanoseconds)
