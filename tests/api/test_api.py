"""The public face for programs: its page is run, its names are few and loaded late, and results show themselves."""

from __future__ import annotations

import doctest
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

import hacheck
from hacheck.api.view import Row, View

ROOT = Path(__file__).parents[2]
PAIR = ROOT / "tests" / "golden" / "specs" / "pair.ha"


def test_the_examples_of_the_page_are_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ended = doctest.testfile(
        str(ROOT / "docs" / "api.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False
    )
    assert ended.attempted > 20
    assert ended.failed == 0


def test_the_page_names_everything_that_the_package_has() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = page.partition("| name | is |")[2].partition("\n\n")[0]
    assert [name for name in hacheck.__all__ if f"`{name}`" not in table] == []


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import hacheck; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = [name for name in ended.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names]
    assert ours == ["hacheck"]


def test_verifying_loads_neither_rich_nor_the_command_line() -> None:
    code = f"import sys, hacheck; print(hacheck.verify({str(PAIR)!r}, check='leased').outcome); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    outcome, modules = ended.stdout.splitlines()
    assert outcome == "expected"
    assert not {"rich", "typer", "pyarrow", "duckdb", "hacheck.cli"} & set(modules.split())


def test_every_name_is_there_and_no_other() -> None:
    assert all(getattr(hacheck, name) is not None for name in hacheck.__all__)
    assert set(hacheck.__all__) <= set(dir(hacheck))
    with pytest.raises(AttributeError, match="verfy"):
        _ = hacheck.verfy


def test_a_result_is_the_document_of_the_command() -> None:
    found = hacheck.verify(PAIR).to_dict()
    schema = json.loads((ROOT / "docs" / "schema" / "verify-1.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(found)] == []
    assert found["exit_code"] == 1
    assert found["not_run"] == ["wide"]


def test_rich_and_notebooks_show_what_the_text_says() -> None:
    found = hacheck.verify(PAIR, check="leased")
    output = io.StringIO()
    Console(file=output, width=200, color_system=None).print(found)
    assert output.getvalue().rstrip() == str(found)
    page = found._repr_html_()
    assert "<td" in page
    assert all(verdict.name in page for verdict in found.verdicts)


def test_text_with_brackets_and_tags_is_shown_as_it_is() -> None:
    view = View("[a] <b>", (Row("good", ("x[1]", r"y\[/]"), "<i>[/i]"),), ("[red]",))
    output = io.StringIO()
    Console(file=output, width=200, color_system=None).print(view.markup())
    assert output.getvalue().rstrip("\n") == view.text()
    assert "<b>" not in view.html().removeprefix("<div><b>")
    assert "&lt;i&gt;" in view.html()


def test_a_run_becomes_plain_data_and_itf() -> None:
    run = hacheck.verify(PAIR, check="leased").verdict("one_active").counterexample
    assert run is not None
    assert json.loads(json.dumps(run.to_dict()))["initial"] == run.initial
    assert len(run.states) == len(run) + 1
    assert len(run.to_itf()["states"]) == len(run.states)
    assert str(run).count("\n") >= len(run)


COUNTERS = """system Counting "Three numbers that grow together."
node S { a: 0..9 = 0  b: 0..9 = 0  c: 0..9 = 0 }
action up(s: S) when s.a < 9 and s.b < 9 and s.c < 9 do
  s.a := s.a + 1
  s.b := s.b + 1
  s.c := s.c + 1
invariant small: not (S.a == 9 and S.b + S.c == 17)
check default expect all hold
"""
"""It holds, since all three are equal; that is no claim about two of their values, so no lemma is found."""


def test_a_property_that_is_not_inductive_has_the_steps_that_show_it() -> None:
    spec = hacheck.loads(COUNTERS)
    assert hacheck.verify(spec).verdict("small").induction_counterexample is None
    small = hacheck.verify(spec, engine="induction").verdict("small")
    assert (small.verdict, small.counterexample) == ("not-inductive", None)
    found = small.induction_counterexample
    assert found is not None
    ends = found.states[-1]
    assert [ends[f"S.{name}"]["1"] for name in "abc"] in ([9, 8, 9], [9, 9, 8])


def test_an_error_that_a_run_meets_is_a_finding() -> None:
    found = hacheck.verify(ROOT / "tests" / "golden" / "specs" / "overflow.ha")
    assert found.outcome == "unexpected"
    error = found.checks[0].error
    assert error is not None
    assert error.error
    assert found.to_dict()["exit_code"] == 2


@pytest.mark.parametrize(
    ("settings", "check", "properties", "words"),
    [
        ({"crashs": 1}, None, (), "unknown setting `crashs`"),
        ({"careful": 3}, None, (), "careful"),
        ({}, "leasd", (), "did you mean leased"),
        ({}, None, ("one_activ",), "unknown property"),
    ],
)
def test_bad_input_says_what_and_what_instead(
    settings: dict[str, int], check: str | None, properties: tuple[str, ...], words: str
) -> None:
    with pytest.raises(hacheck.InputError, match=words):
        hacheck.verify(PAIR, settings=settings, check=check, properties=properties)


def test_a_switch_is_a_bool() -> None:
    found = hacheck.verify(PAIR, check="leased", settings={"careful": True})
    assert found["leased"].settings["careful"] == "on"


def test_exploring_ends_where_the_report_says_so() -> None:
    # 1.5 million states: one thread has not seen them all when it first reports, also where the machine code is kept.
    many = {
        "crashes": 4,
        "messages": 3,
        "channel_cuts": 3,
        "database_cuts": 3,
        "gateway_cuts": 3,
        "gateway_crashes": 2,
    }
    found = hacheck.verify("fiorano_shared", check="default", settings=many, threads=1, report=lambda progress: False)
    assert found.outcome == "undecided"
    assert found.checks[0].stopped == "interrupted"


def test_a_proof_outside_the_fragment_says_why() -> None:
    found = hacheck.prove(ROOT / "tests" / "golden" / "specs" / "beat.ha", wall_seconds_max=5)
    assert not found.proved
    assert found.outside
    assert found.to_dict()["in_fragment"] is False


def test_a_trace_that_deviates_has_its_record(tmp_path: Path) -> None:
    lines = [{"hacheck.traces": 1, "order": "total", "fields": {}}]
    rows = [("Server-1", "start"), ("Server-2", "services_up")]
    lines += [{"trace_id": "t", "seq": n, "node": node, "event": event} for n, (node, event) in enumerate(rows, 1)]
    place = tmp_path / "t.jsonl"
    place.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = hacheck.conform(PAIR, place)
    assert not found.conforms
    (verdict,) = found.deviations
    assert (verdict.node, verdict.event, verdict.seq) == ("Server-2", "services_up", 2)
    assert "services_up" in str(found)


def test_without_the_libraries_for_logs_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('pyarrow', 'duckdb')))\n"
        "import hacheck\n"
        f"try: hacheck.conform({str(PAIR)!r}, '.')\n"
        "except hacheck.InputError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hacheck[logs]'" in ended.stdout
