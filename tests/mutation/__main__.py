"""Mutates a copy of the sources and tells which mutants no case notices: `python -m tests.mutation --most 300`.

cosmic-ray makes the mutants, in an environment of its own below the work folder; the server (`server.py`) says whether
one is noticed. A session that was interrupted is continued. Survivors are compared with
`reviewed.toml`; one that is not there yet is printed with its change, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.mutation.corpus import ROOT
from tests.mutation.table import report
from tests.mutation.targets import targets

PARTS = ("hacheck", "tests", "docs", "spec", "bench", "examples", "pyproject.toml")
CONFIG = "cosmic-ray.toml"
SECONDS_MAX = 420.0
"""So long one mutant may take; the server ends sooner, by the clock of the processor."""


def main() -> None:
    """Runs all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=300, help="how many mutants, taken by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=60, help="how many random specs and systems may notice")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation")
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    copy, session = folder / "copy", folder / "session.sqlite"
    tool = _tool(folder)
    if not session.exists():
        _copied(copy)
        _configure(copy)
        subprocess.run([tool / "cosmic-ray", "init", CONFIG, session], cwd=copy, check=True)
        sampled = [sys.executable, "tests/mutation/sampling.py", session, "--most", str(given.most)]
        subprocess.run([*sampled, "--seed", str(given.seed)], cwd=copy, check=True)  # type: ignore[list-item]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    socket = copy / ".mutation.socket"
    socket.unlink(missing_ok=True)
    serving = [sys.executable, "-m", "tests.mutation.server", "--seeds", str(given.seeds), "--shipped"]
    with subprocess.Popen(serving, cwd=copy, env=environment) as server:
        try:
            while not socket.exists():
                if server.poll() is not None:
                    sys.exit("the server ended before it was ready")
                time.sleep(0.2)
            path = {**environment, "PATH": f"{tool}{os.pathsep}{os.environ['PATH']}"}
            subprocess.run([tool / "cosmic-ray", "exec", CONFIG, session], cwd=copy, env=path, check=True)
        finally:
            server.kill()
    sys.exit(report(session))


def _tool(folder: Path) -> Path:
    """Where cosmic-ray is, installed now if it is not there."""
    tool = folder / "venv" / "bin"
    if not (tool / "cosmic-ray").exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([tool / "pip", "install", "--quiet", "cosmic-ray>=8.7,<9"], check=True)
    return tool


def _copied(copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", ".hacheck-runs"))
        else:
            shutil.copy2(ROOT / part, copy / part)


def _configure(copy: Path) -> None:
    """Says which files cosmic-ray mutates, and whom it asks whether a test notices."""
    names = ", ".join(f'"{path.relative_to(copy)}"' for path in targets(copy))
    (copy / CONFIG).write_text(
        f"""[cosmic-ray]
module-path = [{names}]
timeout = {SECONDS_MAX}
excluded-modules = []
test-command = "python tests/mutation/ask.py"

[cosmic-ray.distributor]
name = "local"
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
