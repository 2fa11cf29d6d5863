"""What a server of Artemis needs to be started here: Java with its compiler, and jars, which Maven gets."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SERVER = Path(__file__).parent / "server"
RESOLVE_SECONDS_MAX = 600.0
COMPILE_SECONDS_MAX = 120.0
PROGRAMS = (("java", "default-jdk-headless"), ("mvn", "maven"))


def missing() -> str | None:
    """Why no server can be started here, with what to install; `None`, if it can. Cost: the first time, some 0.2 s."""
    for program, package in PROGRAMS:
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian and Ubuntu: apt-get install {package})"
    if not _has_compiler():
        return "java is there without its compiler (Debian and Ubuntu: apt-get install default-jdk-headless)"
    return None


@cache
def _has_compiler() -> bool:
    listed = subprocess.run(["java", "--list-modules"], capture_output=True, text=True, check=False)
    return "jdk.compiler" in listed.stdout


def classpath(folder: Path) -> str | None:
    """The jars, resolved by Maven, which keeps them where it always does, and gets them only if they are not there.
    `None`, if it cannot."""
    target = folder / "classpath.txt"
    command = ["mvn", "-q", "-B", "-f", str(SERVER / "pom.xml"), "dependency:build-classpath"]
    for offline in (["-o"], []):
        try:
            words = [*command, *offline, f"-Dmdep.outputFile={target}"]
            subprocess.run(words, check=True, timeout=RESOLVE_SECONDS_MAX, capture_output=bool(offline))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            continue
        return target.read_text().strip()
    return None


@cache
def programs() -> str | None:
    """The class path with the jars and the programs of `server`, which are compiled into a folder that is removed when
    this process ends. `None`, if Maven cannot get the jars. Errors: `RuntimeError`, if they do not compile."""
    folder = TemporaryDirectory(prefix="hacheck-artemis-")
    _kept.append(folder)
    jars = classpath(Path(folder.name))
    if jars is None:
        return None
    sources = [str(SERVER / name) for name in ("Broker.java", "Clients.java")]
    command = ["javac", "-cp", jars, "-d", folder.name, *sources]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS_MAX, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"javac: {ended.stderr.strip()}")
    return f"{folder.name}:{jars}"


_kept: list[TemporaryDirectory[str]] = []
