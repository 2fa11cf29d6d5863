"""What a spec and an adapter have to have for a test, and what is said where they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hacheck.testing import Adapter, BadModel
from hacheck.testing.tested_model import folder_of, is_fault, model_for, place_of, specification_of
from tests.testing.services import Counting
from tests.testing.specs import COUNTER

SILENT = """
system Silent "It says nothing."
node Server { on: bool = false }
action turn(s: Server) do s.on := not s.on
faults { crash Server up to 1 }
invariant fine: true
"""


def adapter(spec: Path | str, **more: Any) -> type[Adapter]:
    """An adapter of some spec."""
    return type("Some", (Adapter,), {"__module__": "nowhere", "spec": spec, **more})


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """A spec."""
    place = tmp_path / "counter.ha"
    place.write_text(COUNTER)
    return place


def refused(made: type[Adapter]) -> str:
    """Why there is no model for an adapter."""
    with pytest.raises(BadModel) as found:
        model_for(made)
    return str(found.value)


def test_an_adapter_has_a_spec() -> None:
    assert refused(adapter("")) == "Some does not say what it is compared with: give it a `spec`"


def test_a_spec_is_there(tmp_path: Path) -> None:
    assert "there is no file `none.ha`" in refused(adapter("none.ha"))
    assert "did you mean the shipped spec `icestorm`" in refused(adapter("icestrom"))
    (tmp_path / "bytes.ha").write_bytes(b"\xff\xfe")
    assert "bytes.ha: cannot be read: " in refused(adapter(tmp_path / "bytes.ha"))


def test_a_spec_is_found_beside_the_adapter_or_by_name() -> None:
    assert place_of("counter.ha", Counting) == Path(__file__).parent / "counter.ha"
    assert place_of("icestorm", Counting).name == "icestorm.ha"
    assert folder_of(adapter("x")) == Path()


def test_all_that_is_wrong_with_a_spec_is_told(tmp_path: Path) -> None:
    place = tmp_path / "wrong.ha"
    place.write_text(COUNTER.replace("s.n + 1", "s.m + 1").replace("not seen", "not sean"))
    lines = refused(adapter(place)).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"{place}:6", f"{place}:9"]
    assert all(": HA1" in line for line in lines)
    assert "; did you mean `seen`?" in lines[1]


def test_settings_and_checks_are_there(counter: Path) -> None:
    assert f"{counter} has no check `wide`; it has default, lower" in refused(adapter(counter, check="wide"))
    assert "there is no setting `least`" in refused(adapter(counter, settings={"least": 1}))


def test_settings_are_those_of_the_check_and_of_the_adapter(counter: Path) -> None:
    assert dict(model_for(adapter(counter)).system.settings)["most"] == "4"
    assert dict(model_for(adapter(counter, check="lower")).system.settings)["most"] == "2"
    assert dict(model_for(adapter(counter, check="lower", settings={"most": 7})).system.settings)["most"] == "7"


def test_truth_values_are_switches(tmp_path: Path) -> None:
    place = tmp_path / "switch.ha"
    place.write_text(
        'system S "s"\nswitch on_time = off\nshared n: 0..1 = 0\n'
        "environment action go() when on_time do\n  n := 1\n  log gone()\ninvariant fine: true\n"
    )
    assert dict(model_for(adapter(place, settings={"on_time": True})).system.settings)["on_time"] == "on"


def test_methods_are_actions(counter: Path) -> None:
    text = refused(adapter(counter, counts=lambda self, s: None))
    assert f"Some.counts is the name of no action of {counter}, which has count, look, look_away" in text
    assert text.endswith("begin the names of methods of your own with `_`")
    assert "Some.jump is the name of no action" in refused(adapter(counter, drives=("jump",)))
    assert refused(adapter(counter, drives="count")) == "Some.drives is one word; write a tuple of names: ('count',)"


def test_a_method_takes_the_arguments_by_the_names_of_the_spec(counter: Path, tmp_path: Path) -> None:
    text = refused(adapter(counter, count=lambda self, n: None))
    assert text.endswith("write `def count(self, s)`")
    for right in (lambda self, s: None, lambda self, **given: None, lambda self, s, slowly=False: None):
        model_for(adapter(counter, count=right))
    model_for(adapter(counter, count=staticmethod(lambda s: None)))
    model_for(adapter(counter, drives=("count",), act=lambda self, action, arguments: None))


def test_a_fault_that_the_spec_does_not_have_is_said_with_how_to_declare_it(counter: Path) -> None:
    assert "`faults { pause KIND up to 1 }`" in refused(adapter(counter, resume=lambda self, n: None))
    assert "`faults { cut KIND - KIND up to 1 }`" in refused(adapter(counter, cut=lambda self, a, b: None))
    assert "faults {" not in refused(adapter(counter, counts=lambda self, s: None))


def test_a_partition_is_refused_with_what_a_test_can_do_instead(tmp_path: Path) -> None:
    place = tmp_path / "parted.ha"
    place.write_text(COUNTER + "faults { partition Server }\n")
    text = refused(adapter(place, partition=lambda self, side: None))
    assert "declare `cut KIND - KIND` or `isolate KIND` in `faults`" in text


def test_methods_of_what_the_settings_switch_off_are_not_used(tmp_path: Path) -> None:
    place = tmp_path / "off.ha"
    place.write_text(
        'system S "s"\nswitch late = off\nparam pauses = 0 in 0..1\nnode Server[1] { n: 0..1 = 0 }\n'
        "environment action go(s: Server) do\n  s.n := 1\n  log gone() at s\n"
        "environment action wait_long(s: Server) when late do\n  s.n := 0\n"
        "faults { pause Server up to pauses }\ninvariant fine: true\n"
    )
    own = {name: lambda self, **_: None for name in ("go", "wait_long", "pause", "resume")}
    assert set(model_for(adapter(place, **own)).actions) == {"go"}
    assert set(model_for(adapter(place, **own, settings={"late": True, "pauses": 1})).actions) == set(own)
    assert "Some.crash is the name of no action" in refused(adapter(place, **own, crash=lambda self, n: None))


def test_lines_or_driven_actions_are_needed(tmp_path: Path) -> None:
    place = tmp_path / "silent.ha"
    place.write_text(SILENT)
    text = refused(adapter(place))
    assert text == f"{place} says of no line what it stands for: write `log` or `observe`"
    assert model_for(adapter(place, turn=lambda self, s: None)).actions == {"turn": (0,)}


def test_an_action_that_cannot_be_driven_is_told(tmp_path: Path) -> None:
    place = tmp_path / "many.ha"
    place.write_text(SILENT + "environment action much(a: 0..99, b: 0..99) do\n  log done()\n")
    text = refused(adapter(place, much=lambda self, a, b: None))
    assert text == f"{place}: `much` cannot be driven: it can be done in 10,000 ways, more than 1,000"


def test_invariants_are_there(counter: Path) -> None:
    text = refused(adapter(counter, invariants=("large",)))
    assert text == f"{counter} has no invariant `large`; it has small"


def test_invariants_are_those_that_the_check_does_not_expect_to_be_violated(counter: Path) -> None:
    assert model_for(adapter(counter)).tracker.invariants == ()
    assert model_for(adapter(counter, check="lower")).tracker.invariants == ("small",)
    assert model_for(adapter(counter, invariants=("small",))).tracker.invariants == ("small",)


def test_a_model_is_made_once(counter: Path) -> None:
    made = adapter(counter)
    assert model_for(made) is model_for(made)


def test_faults_are_told_apart(tmp_path: Path) -> None:
    place = tmp_path / "silent.ha"
    place.write_text(SILENT)
    model = model_for(adapter(place, turn=lambda self, s: None, crash=lambda self, n: None))
    assert is_fault(model, "crash")
    assert not is_fault(model, "turn")


def test_libraries_stand_beside_a_spec(tmp_path: Path) -> None:
    (tmp_path / "part.ha").write_text('library Part "a part"\nshared n: 0..1 = 0\n')
    place = tmp_path / "whole.ha"
    place.write_text('system Whole "w"\nuse "part.ha"\nenvironment action go() do n := 1\ninvariant fine: true\n')
    assert specification_of(place).name == "Whole"
    (tmp_path / "part.ha").unlink()
    with pytest.raises(BadModel, match=r"HA007: there is no library `part\.ha`"):
        specification_of(place)
