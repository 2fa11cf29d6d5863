"""Has `hacheck conform` check a folder of logs, as a user would, within a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

END_SECONDS_MAX = 15.0


@dataclass(frozen=True)
class LogVerdict:
    """A verdict: `conforms`, `deviates`, `unknown`, `late` or `error`. `width`: the most model states that explained
    the log at once; `place`: file and line at which the log leaves the model; `said`: in words."""

    kind: str
    seconds: float
    records: int = 0
    width: int = 0
    place: str = ""
    said: str = ""


def conform(spec: str, logs: Path, options: Sequence[str], seconds_max: float) -> LogVerdict:
    """Runs the command on a folder that is one trace. When the time is over it is ended with all that it started."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = Path(folder) / "verdicts.json"
        command = [sys.executable, "-m", "hacheck", "conform", spec, str(logs), "--no-color", "--json", str(verdicts)]
        began = time.monotonic()
        process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, complaints = process.communicate(timeout=seconds_max)
        except subprocess.TimeoutExpired:
            return LogVerdict("late", time.monotonic() - began, said=f"no verdict within {seconds_max:g} s")
        finally:
            if process.poll() is None:
                end_session(process)
        seconds = time.monotonic() - began
        if process.returncode not in (0, 1, 2, 3) or not verdicts.exists():
            return LogVerdict("error", seconds, said=f"exit code {process.returncode}: {said}{complaints}")
        return verdict(json.loads(verdicts.read_text()), seconds)


def end_session(process: subprocess.Popen[str]) -> None:
    """Ends a command and its workers, which are in a session of their own: by an interrupt, then at once."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=END_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        pass  # it does not listen
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # nobody is left in its session
    process.communicate()


def verdict(told: dict[str, object], seconds: float) -> LogVerdict:
    """What the JSON of the command says of its only trace."""
    verdicts = told["verdicts"]
    assert isinstance(verdicts, list)
    assert len(verdicts) == 1, f"{len(verdicts)} verdicts on one folder"
    one = verdicts[0]
    findings = told["findings"]
    assert isinstance(findings, dict)
    place = f"{one['file']}:{one['line']}" if one["file"] else ""
    wrong = f"findings about the log: {findings['counts']}" if findings["total"] else ""
    said = " ".join(part for part in (one["event"], one["reason"], wrong) if part)
    return LogVerdict(one["kind"], seconds, one["records"], one["width"], place, said)
