"""Says of each mutant whether a test notices it, without importing anything anew: `python -m tests.mutation.server`.

`--seeds`: how many random specs and systems; `--shipped`: the shipped specs, too. It loads everything once, says so,
and waits at a socket. Whoever asks (`ask.py`, the test command of cosmic-ray) gets a line: the first case that noticed,
or `survived`. For each question a child process puts the source that is changed at that moment into itself and looks at
the cases, the cheapest first.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.mutation.corpus import ROOT, Case, engine_cases, language_cases
from tests.mutation.native_cases import native_cases
from tests.mutation.swapping import NotSwapped, swap
from tests.mutation.targets import group_of, module_name, targets

SOCKET = ".mutation.socket"
CPU_SECONDS_MAX = 60
TEST_SECONDS_MAX = 360
TESTS = {
    "language": ["tests/language/test_examples.py", "-k", "locks or faults or operations"],
    "engine": ["tests/language/test_examples.py", "-k", "locks or faults or operations"],
    "native": ["tests/native/test_emission.py"],
}
"""Which tests are run of a change outside of functions: of a table, a class, a default."""


def main() -> None:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--shipped", action="store_true")
    given = parser.parse_args()
    sources = {path: path.read_text(encoding="utf-8") for path in targets(ROOT)}
    begun = time.process_time()
    cases = {
        "language": _ordered(language_cases(given.seeds, given.shipped)),
        "engine": _ordered(engine_cases(given.seeds)),
        "native": _ordered(native_cases(given.seeds)),
    }
    told = ", ".join(f"{len(some)} {group} cases" for group, some in cases.items())
    print(f"{told}, ready after {time.process_time() - begun:.1f} CPU s", flush=True)
    Path(SOCKET).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(SOCKET)
        listening.listen()
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(asked(sources, cases).encode())


def _ordered(cases: Iterable[Case]) -> list[Case]:
    """Cases that notice nothing now, the cheapest first."""
    timed = []
    for one in cases:
        begun = time.process_time()
        if one.noticed:
            print(f"{one.name} is not the same twice", file=sys.stderr)
            continue
        timed.append((time.process_time() - begun, one.name, one))
    return [one for _, _, one in sorted(timed, key=lambda found: found[:2])]


def asked(sources: dict[Path, str], cases: dict[str, list[Case]]) -> str:
    """What is said of the mutant that is in the files now."""
    changed = [path for path, text in sources.items() if path.read_text(encoding="utf-8") != text]
    if len(changed) != 1:
        return f"error: {len(changed)} files are changed"
    (path,) = changed
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.write(writing, _in_child(path, sources[path], cases[group_of(path)]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    if said.startswith("outside"):
        return _anew(group_of(path), said)
    return said or "killed: it ended the process, or took too long"


def _anew(group: str, said: str) -> str:
    """What the tests of a group say in a process of their own, of a change that cannot be put into this one."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS[group]],
        capture_output=True,
        check=False,
        timeout=TEST_SECONDS_MAX,
    )
    return f"survived, {said}" if ended.returncode == 0 else f"killed by a test, {said}"


def _in_child(path: Path, before: str, cases: list[Case]) -> str:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    sys.setrecursionlimit(3_000)
    try:
        if not swap(module_name(ROOT, path), path, before):
            return "survived: no code is changed"
    except NotSwapped as outside:
        return f"outside: {outside}"
    except SyntaxError:
        return "killed: it is no program"
    for one in cases:
        if one.noticed:
            return f"killed: {one.name}"
    return "survived"


if __name__ == "__main__":
    main()
