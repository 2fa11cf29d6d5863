"""Actions that a test does write a line, and have names that Python allows."""

from __future__ import annotations

import pytest

from hacheck.model.observing.line_writers import lines_of
from hacheck.testing import Adapter
from hacheck.testing.adapter import OWN, does, methods
from hacheck.testing.driven_system import NotDriven, as_method, driven, method_names, methods_of
from tests.testing.specs import system_of

KINDS = """
system Kinds "Two kinds of nodes, and actions of many names."
identity Group
node Server[2] { n: 0..3 = 0 }
node Client { n: 0..3 = 0 }
shared seen: 0..3 = 0
action stop(s: Server) do s.n := 0
action pass(s: Server) do s.n := 0
action ask(c: Client, group: Group) do c.n := 1
environment action much(a: 0..99, b: 0..99) do seen := 0
faults { crash Server up to 1, crash Client up to 1 }
invariant fine: true
"""


def test_methods_have_the_names_of_actions() -> None:
    system = system_of(KINDS)
    names = {name: [system.actions[index].name for index in found] for name, found in method_names(system).items()}
    assert names["crash"] == ["crash Server", "crash Client"]
    assert names["crash_Client"] == ["crash Client"]
    assert names["stop_"] == ["stop"]
    assert names["pass_"] == ["pass"]
    assert not {"stop", "pass"} & set(names)


def test_the_longer_name_decides() -> None:
    system = system_of(KINDS)
    chosen = methods_of(system, ["crash", "crash_Client", "ask", "nothing"])
    assert {system.actions[index].name: name for index, name in chosen.items()} == {
        "ask": "ask",
        "crash Server": "crash",
        "crash Client": "crash_Client",
    }


def test_a_driven_action_writes_what_was_done_before_anything_else() -> None:
    system = system_of(KINDS)
    (index,) = methods_of(system, ["crash_Server"])
    line = next(iter(lines_of(driven(system, [index]).actions[index])))
    assert (line.event, line.node, [field.name for field in line.fields]) == ("do crash Server", None, ["n"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "ask",
            "`ask` cannot be driven: `group` is Group, which a test cannot name; leave its method out of the adapter: "
            "the model may then take it by itself",
        ),
        ("much", "`much` cannot be driven: it can be done in 10,000 ways, more than 1,000"),
    ],
)
def test_an_action_that_cannot_be_named_is_not_driven(name: str, text: str) -> None:
    system = system_of(KINDS)
    with pytest.raises(NotDriven) as found:
        driven(system, methods_of(system, [name]))
    assert str(found.value) == text


@pytest.mark.parametrize(
    ("name", "method"), [("crash Server", "crash_Server"), ("wait", "wait_"), ("import", "import_"), ("a.b", "a_b")]
)
def test_a_name_becomes_one_of_python(name: str, method: str) -> None:
    assert as_method(name) == method


def test_names_of_every_adapter_are_known() -> None:
    assert {"start", "stop", "wait", "events", "story", "act", "finish", "spec", "drives"} <= OWN


class Driving(Adapter):
    """Drives one action by a method and one by a name."""

    drives = ("pause",)
    number = 7

    def crash(self, n: str) -> bool:
        """Not done."""
        return n == "Server-1"

    def act(self, action: str, arguments: object) -> object:
        """Everything else."""
        return (action, arguments) == ("pause", {"n": "Server-1"})

    def _own(self) -> None:
        """Of no interest."""


def test_what_an_adapter_drives_is_its_methods_and_what_it_names() -> None:
    assert methods(Driving) == {"crash", "pause"}
    adapter = Driving()
    assert does(adapter, "crash", {"n": "Server-1"})
    assert not does(adapter, "crash", {"n": "Server-2"})
    assert does(adapter, "pause", {"n": "Server-1"})
    assert not does(adapter, "pause", {"n": "Server-2"})


@pytest.mark.parametrize("name", ["start", "events", "wait"])
def test_what_an_adapter_lacks_is_said(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"Adapter has no `{name}`"):
        getattr(Adapter(), name)(*([1.0] if name == "wait" else []))
    with pytest.raises(NotImplementedError, match="Adapter has no `act`, which does what `drives` names"):
        Adapter().act("pause", {})
    assert Adapter().story() == ""
