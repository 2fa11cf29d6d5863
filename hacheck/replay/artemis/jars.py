"""What a server of Artemis or HornetQ needs to be started here: Java with its compiler, and jars, which Maven gets."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from hacheck.replay.artemis.broker_kind import BrokerKind
from hacheck.replay.outcomes import EnvironmentLacks

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


def classpath(folder: Path, kind: BrokerKind) -> str | None:
    """The jars, resolved by Maven, which keeps them where it always does, and gets them only if they are not there.
    `None`, if it cannot."""
    target = folder / "classpath.txt"
    command = ["mvn", "-q", "-B", "-f", str(kind.server / "pom.xml"), "dependency:build-classpath"]
    for offline in (["-o"], []):
        try:
            words = [*command, *offline, f"-Dmdep.outputFile={target}"]
            subprocess.run(words, check=True, timeout=RESOLVE_SECONDS_MAX, capture_output=bool(offline))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            continue
        return target.read_text().strip()
    return None


@cache
def programs(kind: BrokerKind) -> Programs:
    """The jars and the programs of a kind of broker, resolved and compiled once in a process. Errors:
    `EnvironmentLacks`, if Maven cannot get the jars, or the programs do not compile. Cost: the first time, some 8 s."""
    with TemporaryDirectory(prefix="hacheck-brokers-") as place:
        folder = Path(place)
        jars = classpath(folder, kind)
        if jars is None:
            raise EnvironmentLacks(f"Maven cannot get the jars of {kind.artifact}: it needs a registry, once")
        command = ["javac", "-cp", jars, "-d", place, *kind.sources]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS_MAX, check=False)
        except subprocess.TimeoutExpired:
            seconds = f"{COMPILE_SECONDS_MAX:g} s"
            raise EnvironmentLacks(
                f"the programs that start {kind.product} are not compiled within {seconds}"
            ) from None
        if ended.returncode != 0:
            raise EnvironmentLacks(f"the programs that start {kind.product} do not compile: {ended.stderr.strip()}")
        return Programs(jars, {file.name: file.read_bytes() for file in folder.glob("*.class")})


class Programs(Struct, frozen=True):
    """What servers and clients are run from. `classes`: by the name of its file."""

    jars: str
    classes: Mapping[str, bytes]

    def unpacked(self, folder: Path) -> str:
        """Writes the classes into a folder. Returns the class path."""
        folder.mkdir(parents=True)
        for name, content in self.classes.items():
            (folder / name).write_bytes(content)
        return f"{folder}:{self.jars}"
