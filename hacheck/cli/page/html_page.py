"""One HTML file out of the report's data and the script and style of `assets`. Nothing in it is loaded from elsewhere.

Text of specs and logs is in it as JSON in which no `<` occurs, and the script makes text nodes of it, never markup. The
content policy allows this one script and this one style, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, TypeAlias

Json: TypeAlias = Any

SCRIPTS = (
    "dom.js", "model.js", "routes.js", "audit.js", "verdicts.js", "spacetime.js", "run.js", "panels.js", "why.js",
    "modes.js", "explore.js", "conform.js", "main.js",
)  # fmt: skip
"""In the order in which they depend on each other."""

LIGHT = (
    "--bg: #fbfbf9; --panel: #fff; --ink: #1d2329; --soft: #5b6670; --line: #dcdfe2; --sel: #fff3c9; --bad: #b92b2b;"
    " --badbg: #fdecea; --stale: #b93c0a; --good: #17744a; --warn: #8a5c00; --message: #00718f; --call: #3a5bbf;"
    " --down: #a4abb1; --m0: #b3bcc4; --m1: #d99a2b; --m2: #7d5aa6; --m3: #2a9d6f; --m4: #2f74ad; --m5: #b0446a;"
    " --m6: #7f8c2a; --m7: #4c7a80; --t0: #14181c; --t1: #14181c; --t2: #fff; --t3: #14181c; --t4: #fff; --t5: #fff;"
    " --t6: #14181c; --t7: #fff; --code: #f3f4f2; --keyword: #7a3ea8; --string: #1a6f4b; --comment: #5f6972;"
    " color-scheme: light;"
)
DARK = (
    "--bg: #14181c; --panel: #1c2126; --ink: #e4e8eb; --soft: #9aa5ae; --line: #333b42; --sel: #3a3413; --bad: #ff7b72;"
    " --badbg: #3b1d1d; --stale: #ff9557; --good: #58c98d; --warn: #e3b341; --message: #4cc3e0; --call: #8ea8ff;"
    " --down: #59626a; --m0: #56616b; --m1: #d99a2b; --m2: #a98bd6; --m3: #35b37e; --m4: #5aa5e6; --m5: #dd7a9d;"
    " --m6: #a3b14a; --m7: #74a6ad; --t0: #fff; --t1: #14181c; --t2: #14181c; --t3: #14181c; --t4: #14181c;"
    " --t5: #14181c; --t6: #14181c; --t7: #14181c; --code: #23292f; --keyword: #c79bf2;"
    " --string: #7fd6a8; --comment: #93a0ab; color-scheme: dark;"
)


def html_page(report: Json, runs: Sequence[tuple[str, Json]], *, live: bool = False) -> str:
    """The file. `report`: all but the runs; `runs`: the view of each run by its key. `live`: the page may ask the
    server that it comes from. Cost: about the size of the runs."""
    style = asset("style.css").replace("{{LIGHT}}", LIGHT).replace("{{DARK}}", DARK)
    script = '"use strict";\n(() => {\n' + "\n".join(asset(name) for name in SCRIPTS) + "\n})();\n"
    shared: list[Json] = []
    places: dict[str, int] = {}
    views = [_sharing(view, shared, places) for _, view in runs]
    report = {**report, "live": live, "shared": shared, "runs": [{"key": key} for key, _ in runs]}
    blocks = [_block("report", report), *(_block(f"run-{number}", view) for number, view in enumerate(views))]
    policy = [
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if live:
        policy.append("connect-src 'self'")
    parts = {
        "{{POLICY}}": "; ".join(policy),
        "{{TITLE}}": html.escape(str(report["system"])),
        "{{STYLE}}": style,
        "{{DATA}}": "\n".join(blocks),
        "{{SCRIPT}}": script,
    }
    page = asset("page.html")
    names, found = list(parts), []
    while page:  # in one pass, so that what is put in is never searched for places
        place, name = min(((page.find(name), name) for name in names if name in page), default=(-1, ""))
        if place < 0:
            break
        found += [page[:place], parts[name]]
        page = page[place + len(name) :]
    return "".join([*found, page])


def asset(name: str) -> str:
    """The text of a file of the package."""
    return files("hacheck.cli.page").joinpath("assets", name).read_text(encoding="utf-8")


def _sharing(view: Json, shared: list[Json], places: dict[str, int]) -> Json:
    """The view with what runs of one check have in common put into `shared`."""
    made = dict(view)
    for name in ("nodes", "modes", "slots"):
        text = json.dumps(view[name], sort_keys=True)
        if text not in places:
            places[text] = len(shared)
            shared.append(view[name])
        made[name] = places[text]
    return made


def _block(name: str, content: Json) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
