"""`--report` and `explore`: one file that loads nothing, with specs as text, and a server for one machine."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.cli.exploring.explored_views import BadRequest
from hacheck.cli.exploring.loopback_server import LoopbackServer
from hacheck.cli.page.html_page import html_page
from tests.cli.command import hacheck

SPEC = """system Pair "</script><!--<script>"
node A[2] { state mode: { off, on } = off }
action go(a: A) "on & off" when a.mode == off do a.mode := on
invariant never "no two are on <b>": at most one a: A where a.mode == on
reachable one "one is on": some a: A where a.mode == on
check default expect never violated
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "pair.ha"
    path.write_text(SPEC, encoding="utf-8")
    return path


def blocks(page: str) -> dict[str, object]:
    """The data of a page by the names of its blocks."""
    found = re.findall(r'<script type="application/json" id="([\w-]+)">([^<]*)</script>', page)
    return {name: json.loads(text) for name, text in found}


def test_report_has_the_verdicts_and_every_run(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert hacheck("verify", str(spec), "--report", str(out)).code == 0
    data = blocks(out.read_text(encoding="utf-8"))
    report = data["report"]
    assert isinstance(report, dict)
    assert [run["key"] for run in report["runs"]] == ["pair.ha/default/never", "pair.ha/default/one"]
    assert report["texts"]["pair.ha"] == SPEC.split("\n")
    assert [one["verdict"] for one in report["checks"][0]["properties"]] == ["violated", "holds"]
    run = data["run-0"]
    assert isinstance(run, dict)
    assert [step["action"] for step in run["steps"]] == ["go", "go"]
    assert len(run["graph"]["edges"]["0"]) == 2


def test_text_cannot_become_markup_and_only_this_script_may_run(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    hacheck("verify", str(spec), "--report", str(out))
    page = out.read_text(encoding="utf-8")
    assert page.lower().count("<script") == page.lower().count("</script>") == len(blocks(page)) + 1
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    for name, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script)


def test_a_title_with_the_name_of_a_place_is_a_title() -> None:
    page = html_page({"system": "{{DATA}} <b>", "spec": "x.ha"}, [])
    assert "<title>{{DATA}} &lt;b&gt; - hacheck</title>" in page


def test_show_writes_saved_runs_as_a_page(spec: Path, tmp_path: Path) -> None:
    saved, out = tmp_path / "found.json", tmp_path / "out.html"
    hacheck("verify", str(spec), "--json", str(saved))
    assert hacheck("show", str(saved), "--report", str(out)).code == 0
    assert len(blocks(out.read_text(encoding="utf-8"))) == 3
    assert hacheck("show", str(saved), "--property", "one", "--report", str(out)).code == 0
    assert len(blocks(out.read_text(encoding="utf-8"))) == 2
    assert hacheck("show", str(saved), "--property", "two", "--report", str(out)).code == 2


def test_a_simulated_run_is_a_page_as_well(spec: Path, tmp_path: Path) -> None:
    saved, out = tmp_path / "run.json", tmp_path / "out.html"
    hacheck("simulate", str(spec), "--json", str(saved))
    assert hacheck("show", str(saved), "--report", str(out)).code == 0
    assert "run-0" in blocks(out.read_text(encoding="utf-8"))


def test_conform_writes_lines_deviation_and_the_model_state(tmp_path: Path) -> None:
    spec, log, out = tmp_path / "s.ha", tmp_path / "t.jsonl", tmp_path / "out.html"
    spec.write_text(
        'system S "s"\nnode A { state mode: { off, on } = off }\n'
        "action go(a: A) when a.mode == off do\n  a.mode := on\n  log went()\n",
        encoding="utf-8",
    )
    record = {"trace_id": "t", "node": "A 1", "event": "went"}
    log.write_text("".join(json.dumps(record | {"seq": seq, "time": seq}) + "\n" for seq in (1, 2)), encoding="utf-8")
    ended = hacheck("conform", str(spec), str(log), "--report", str(out))
    assert ended.code == 1, ended.err
    conform = blocks(out.read_text(encoding="utf-8"))["report"]["conform"]  # type: ignore[index]
    (trace,) = conform["traces"]
    assert (trace["kind"], trace["deviation"], len(trace["lines"])) == ("deviates", 1, 2)
    assert trace["states"]["rows"] == [["A 1", "on"]]
    assert trace["run_key"] == "s.ha/default/t"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("verify --all --report x.html", "--report is about one spec"),
        ("verify {spec} --report {spec}", "would be written over"),
        ("verify {spec} --report x.html --json x.html", "two outputs in one file"),
        ("verify {spec} --report no/such/x.html", "cannot be written"),
        ("explore {spec} --at nowhere", "no link of a page"),
        ("explore {spec} --run a.json --log b", "leave one out"),
        ("explore {spec} --adapter icestorm", "--log TRACES"),
        ("explore {spec} --run {spec}", "not JSON"),
        ("explore {spec} --property nothing", "nothing"),
        ("explore {spec} --port 99999", "65535"),
    ],
)
def test_bad_input_is_refused(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hacheck(*words.format(spec=spec).split())
    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair.ha"]


# ---- the server ----


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    def answer(name: str, content: object) -> object:
        if name != "echo":
            raise BadRequest("no such question")
        return content

    with LoopbackServer(0, "<p>page</p>", answer) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server: LoopbackServer, method: str, name: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    connection.request(method, name, body, given)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content


def test_the_server_answers_its_page_only(server: LoopbackServer) -> None:
    place, kind = f"/{server.token}/", {"Content_Type": "application/json"}
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "GET", place) == (200, "<p>page</p>")
    assert ask(server, "POST", f"{place}echo", "[1]", **kind) == (200, "[1]")
    own = f"http://127.0.0.1:{server.server_port}"
    assert ask(server, "POST", f"{place}echo", "[1]", Origin=own, **kind)[0] == 200
    for path in ("/", "/wrong/", f"/{server.token}", f"/{server.token}x/", f"{place}other"):
        assert ask(server, "GET", path)[0] == 404 or path == f"/{server.token}"
    assert ask(server, "GET", place, Host="example.org")[0] == 404
    assert ask(server, "POST", f"{place}echo", "[1]", Host="example.org", **kind)[0] == 404
    assert ask(server, "POST", f"{place}echo", "[1]", Origin="http://example.org", **kind)[0] == 403
    assert ask(server, "POST", f"{place}echo", "[1]", Content_Type="text/plain")[0] == 415
    assert ask(server, "POST", f"{place}echo", "{", **kind)[0] == 400
    assert ask(server, "POST", f"{place}nothing", "{}", **kind) == (400, "no such question")
    assert ask(server, "POST", f"{place}echo", "1" * 300_000, **kind)[0] == 413


def test_explore_ends_on_ctrl_c(spec: Path) -> None:
    command = [sys.executable, "-m", "hacheck", "explore", str(spec), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert address.startswith("http://127.0.0.1:")
    assert process.returncode == 0
    assert errors.endswith("stopped\n")
