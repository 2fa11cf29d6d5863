"""`hacheck doc`: the page about a protocol says what its spec says, and what verifying it finds."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from hacheck.cli.document.prose import how_to_read, markdown, section_of, sections
from hacheck.cli.document.rules import cited, rules_of, untraced
from hacheck.cli.guard import ExitCode
from hacheck.model.language import Specification, load
from tests.cli.command import hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
LIBRARY = """library Watching "whoever watches"

# Whoever watches is told late.
# Or never.

node Watcher { seen: bool = false }
environment action look(w: Watcher) do w.seen := true
"""
SPEC = """system Relay "A relay that passes on what it gets."
  source "Guide, 1"
use "watching.ha"

# How to read this file
#
# A sender has one message. Steps:
#
#   one   `hand_over`
#   two   `relay`
#
# Left out:
# - Time-outs.
# - Order,
#   too.

param crashes = 1 in 0..2 "how often the relay ends"
switch forgetful = off "the relay keeps nothing on its disk"

# ---- passing on ----

node Sender { sent: bool = false }
node Relay "passes on" {
  state mode: { idle, full } = idle
  durable (if not forgetful) kept: bool = false
}
operation give() from Sender to Relay returns bool
operation ask() from Sender to Relay returns bool

action hand_over(s: Sender) "the sender hands over"
  source "Guide, 2; 2.1"
  note "once only"
  when not s.sent
do
  s.sent := true
  call give() at Relay as heard

serve give() at r from s
do
  r.kept := true
  r.mode := full
  answer true

action wonder(s: Sender) when s.sent do
  call ask() at Relay as heard

serve ask() at r from s
do answer r.kept

faults { crash Relay up to crashes }

invariant keeps "what was given is kept" source "Guide, 3":
  Relay.mode == full implies Relay.kept
reachable forgets: not up(Relay) and Relay.kept

# ---- checks: the guide ----

check default "one crash" expect all hold
# It is gone.
check forgotten "a disk that keeps nothing"
  with forgetful = on
  expect forgets violated
check far by request expect all hold
"""


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spec in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "watching.ha").write_text(LIBRARY, encoding="utf-8")
    path = tmp_path / "relay.ha"
    path.write_text(SPEC, encoding="utf-8")
    return path


def specification() -> Specification:
    """The spec as it is read."""
    loaded = load(SPEC, "relay.ha", {"watching.ha": LIBRARY}.get)
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


def part(page: str, heading: str) -> str:
    """What stands under a heading."""
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_a_picture_that_doc_did_not_make_is_not_overwritten(relay: Path) -> None:
    picture = relay.with_name("page.svg")
    picture.write_text("mine", encoding="utf-8")
    ended = hacheck("doc", "relay.ha", "--out", "page.md", "--static")
    assert ended.code == ExitCode.BAD_INPUT
    assert "page.svg is there" in ended.err
    assert picture.read_text(encoding="utf-8") == "mine"
    picture.unlink()
    for _ in range(2):  # the second time the picture is its own
        assert hacheck("doc", "relay.ha", "--out", "page.md", "--static").code == ExitCode.AS_EXPECTED
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_page_has_the_parts_of_a_protocol_in_their_order(relay: Path) -> None:
    page = hacheck("doc", "relay.ha").out
    assert page.startswith("# Relay\n\nA relay that passes on what it gets.\n\nSource: Guide, 1.\n")
    assert "2 checks, all as expected" in page
    headings = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert headings[:4] == ["How to read it", "Who takes part", "State diagram", "Rules"]
    assert headings[4:8] == [
        "Messages and calls",
        "What may go wrong",
        "Properties",
        "What holds, what does not, and how far that reaches",
    ]
    assert headings[8:] == ["Settings", "Where the source is silent"]


def test_comment_that_explains_the_spec_and_those_of_libraries_are_there(relay: Path) -> None:
    text = part(hacheck("doc", "relay.ha", "--static").out, "How to read it")
    assert "A sender has one message. Steps:\n\n```text\none   `hand_over`\ntwo   `relay`\n```\n" in text
    assert "Left out:\n\n- Time-outs.\n- Order,\n  too.\n" in text
    assert "### watching.ha\n\nWhoever watches is told late.\nOr never.\n" in text


def test_rule_stands_with_its_condition_its_source_its_choice_and_its_place(relay: Path) -> None:
    text = part(hacheck("doc", "relay.ha", "--static").out, "Rules")
    line = SPEC.splitlines().index('action hand_over(s: Sender) "the sender hands over"') + 1
    assert "### Passing on\n" in text
    assert (
        "**`hand_over(s: Sender)`** The sender hands over.\n\n- when `not s.sent`\n- source: Guide, 2; 2.1\n"
        f"- choice: once only\n- relay.ha:{line}\n"
    ) in text
    assert "**serve `give() at r from s`**\n\n- called by `hand_over`\n" in text
    assert text.index("hand_over") < text.index("### watching.ha") < text.index("the environment `look(w: Watcher)`")


def test_what_survives_a_crash_and_what_may_happen_is_told(relay: Path) -> None:
    page = hacheck("doc", "relay.ha", "--static").out
    assert "| `Relay` | 1 | Passes on. | `mode` | `kept` |" in part(page, "Who takes part")
    assert "| call | `give()` | Sender → Relay | `bool` |  |" in part(page, "Messages and calls")
    assert "| crash Relay | `crashes` | yes |  |" in part(page, "What may go wrong")
    assert "| param | `crashes` | `1 in 0..2` | How often the relay ends. |  |" in part(page, "Settings")
    assert "| switch | `forgetful` | `off` | The relay keeps nothing on its disk. | `forgotten` |" in page


def test_violated_property_is_told_with_its_shortest_run(relay: Path) -> None:
    text = part(hacheck("doc", "relay.ha").out, "What holds, what does not, and how far that reaches")
    assert "### The guide\n\n#### `default`\n\nOne crash.\n" in text
    assert "explored: every reachable state" in text
    forgotten = text.split("#### `forgotten`")[1]
    assert "It is gone." in forgotten
    assert "- settings: `forgetful = on`" in forgotten
    assert "- unreachable: `forgets`" in forgotten
    assert "By request only, and not run for this page: `far`." in text


def test_run_of_a_violation_is_told_as_a_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SPECS)
    text = hacheck("doc", "pair.ha").out
    story = text.split("<summary><code>one_active</code>: 7 steps, 1 fault</summary>")[1].split("</details>")[0]
    assert "At first: every Server: mode = dead" in story
    assert re.search(r"^  1 +◆ .* start  \(a server comes up\)$", story, re.MULTILINE)
    assert "LockFile is LOST, 1 is not notified" in story
    assert "Server 1 and Server 2: mode is active" in story
    assert "Server 1 believes it holds LockFile, since step 3. It does not:" in story


def test_page_without_verifying_says_so_and_has_no_verdicts(relay: Path) -> None:
    page = hacheck("doc", "relay.ha", "--static").out
    assert "`hacheck verify relay.ha` does" in page
    assert "as expected" not in page
    assert "| `keeps` | invariant | What was given is kept. | Guide, 3 |" in part(page, "Properties")


def test_limit_is_told_where_it_was_reached(relay: Path) -> None:
    page = hacheck("doc", "relay.ha", "--states", "2").out
    assert "stopped before the end" in page
    assert "of which 0 as expected" in page


def test_file_has_its_diagram_beside_it_and_links_to_the_spec(relay: Path) -> None:
    (relay.parent / "docs").mkdir()
    ended = hacheck("doc", "relay.ha", "--out", "docs/relay.md")
    assert ended.code == ExitCode.AS_EXPECTED
    assert ended.out == ""
    page = (relay.parent / "docs" / "relay.md").read_text(encoding="utf-8")
    assert "![State diagram of Relay: mode](relay.svg)" in page
    assert "(../relay.ha#L" in page
    drawn = ElementTree.fromstring((relay.parent / "docs" / "relay.svg").read_text(encoding="utf-8"))
    assert {"idle", "full"} <= {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}


def test_page_is_the_same_each_time_and_check_says_when_it_is_not(relay: Path) -> None:
    command = ("doc", "relay.ha", "--out", "relay.md")
    hacheck(*command)
    assert hacheck(*command, "--check").code == ExitCode.AS_EXPECTED
    relay.write_text(SPEC.replace("how often the relay ends", "how often it ends"), encoding="utf-8")
    before = Path("relay.md").read_text(encoding="utf-8")
    stale = hacheck(*command, "--check")
    assert stale.code == ExitCode.NOT_AS_EXPECTED
    assert "relay.md is not what its spec says now" in stale.out
    assert "How often it ends." in stale.out
    assert Path("relay.md").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("arguments", [("--check",), ("--out", "nowhere/relay.md")])
def test_what_cannot_be_written_or_compared_is_refused(relay: Path, arguments: tuple[str, ...]) -> None:
    assert hacheck("doc", "relay.ha", *arguments).code == ExitCode.BAD_INPUT


def test_spec_without_a_state_field_has_no_diagram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.ha").write_text('system X "x"\nnode A { n: 0..1 = 0 }\ninvariant i: A.n == 0\n', encoding="utf-8")
    hacheck("doc", "x.ha", "--out", "x.md")
    assert "State diagram" not in Path("x.md").read_text(encoding="utf-8")
    assert not Path("x.svg").exists()


def test_rules_without_a_source_are_found() -> None:
    names = [(rule.kind, rule.name) for rule in untraced(specification())]
    assert names == [
        ("environment", "look"),
        ("action", "wonder"),
        ("service", "ask"),
        ("fault", "crash Relay"),
    ]
    elsewhere = untraced(specification(), frozenset({"look", "wonder"}))
    assert [rule.name for rule in elsewhere] == ["crash Relay"]


def test_service_is_traced_where_every_rule_that_calls_it_is() -> None:
    assert "give" in {rule.name for rule in rules_of(specification())}
    assert "give" not in {rule.name for rule in untraced(specification())}


def test_sources_and_choices_are_told_apart() -> None:
    assert cited("A; 2; Choice: b; Choice: c") == (("A; 2",), ("b", "c"))
    assert cited("Choice: b") == ((), ("b",))
    assert cited("") == ((), ())


def test_comments_become_markdown() -> None:
    assert how_to_read("# one line\n\n# two\n# lines\n") == "two\nlines"
    assert how_to_read("system X") == ""
    assert markdown(["a:", "- b", "  c", "", "d"]) == "a:\n\n- b\n  c\n\nd"


def test_parts_of_a_file_are_found_by_their_lines() -> None:
    found = sections("a\n# ---- one ----\nb\n# ---- two ----\nc\n")
    assert found == [(2, "one"), (4, "two")]
    assert [section_of(line, found) for line in (1, 3, 5)] == ["", "one", "two"]


def test_a_spec_may_come_from_standard_input() -> None:
    page = hacheck("doc", "-", stdin='system X "x"\nnode A { n: 0..1 = 0 }\ninvariant i: A.n == 0\n').out
    assert page.startswith("# X\n")
    assert "all as expected" not in page
    assert "1 check, as expected" in page


def test_control_c_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "slow.ha"
    path.write_text(
        'system Slow "x"\nnode A[6] ranked { n: 0..60 = 0 }\n'
        "action go(a: A) when a.n < 60 do a.n := a.n + 1\ninvariant fine: every a: A satisfies a.n <= 60\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "hacheck", "doc", str(path), "--out", str(tmp_path / "slow.md")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert "check default: " in running.stderr.readline()  # the first line about how far it is
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == ExitCode.UNDECIDED
    assert "nothing was written" in said
    assert not (tmp_path / "slow.md").exists()
