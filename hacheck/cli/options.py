"""What several commands take on their command line, and how its text is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from glob import escape, glob
from pathlib import Path
from typing import Annotated, TypedDict

from hacheck.api.errors import InputError, require_known
from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput


def specs_beginning(incomplete: str) -> list[str]:
    """What a shell offers for a SPEC: shipped protocols, files of the language, and folders on the way to some."""
    from hacheck import shipped

    try:
        found = [Path(path) for path in sorted(glob(f"{escape(incomplete)}*"))]
    except (OSError, ValueError):
        found = []
    files = [str(path) for path in found if path.suffix == shipped.SUFFIX]
    folders = [f"{path}/" for path in found if path.is_dir()]
    return [*(name for name in shipped.names() if name.startswith(incomplete)), *files, *folders]


def engines_beginning(incomplete: str) -> list[str]:
    """What a shell offers for an engine."""
    return [name for name in ENGINES if name.startswith(incomplete)]


SpecArgument = Annotated[
    str,
    Argument("SPEC", "A .ha file, or the name of a shipped protocol (see hacheck list).", specs_beginning, "spec"),
]
OptionalSpecArgument = Annotated[
    str | None,
    Argument("[SPEC]", "A .ha file, or the name of a shipped protocol (see hacheck list).", specs_beginning, "spec"),
]
SettingOptions = Annotated[
    list[str] | None,
    option("--set", metavar="NAME=VALUE", help="Set a param or switch of the spec. Repeatable."),
]
JsonOption = Annotated[
    str | None,
    option("--json", metavar="FILE", help="Write everything found as JSON (- is stdout).", writes=Writes()),
]
MEMORY = "Stop at this much memory: 8GiB, 500M. By default half of what is free at the start."
MemoryOption = Annotated[str | None, option("--memory", metavar="SIZE", help=MEMORY)]
NoColorOption = Annotated[bool, flag("--no-color", help="Plain text. The variable NO_COLOR does the same.")]
DebugOption = Annotated[bool, flag("--debug", help="On an internal error, show where in hacheck it happened.")]

ENGINES = ("native", "python", "simulation", "bmc", "induction")
EXAMPLES = {"--threads": 4, "--jobs": 4, "--depth": 20, "--any-start": 4, "--seeds": 1000, "--schedules": 1000}
"""An example of a number, where a million makes no sense."""
MEMBERS_MAX = 100
"""So many replicas, or clients, a cluster has at most."""
JOBS_MAX = 1024
"""So many processes or threads work at once at most."""
SEED_MAX = 2**63 - 1
SECONDS_MAX = 366 * 24 * 3600
"""A year: the longest time that a command line asks for."""
MS_MAX = 1_000_000_000
"""The longest time in milliseconds: 11 days."""
SIZE_MAX = 2**50
COUNT_MAX = 10**15
COUNTS_MAX = {
    "--threads": JOBS_MAX,
    "--jobs": JOBS_MAX,
    "--depth": 10**9,
    "--any-start": 10**9,
    "--points": 10**6,
    "--part-records": 10**12,
}
"""The largest number that an option takes, where that is not `COUNT_MAX`."""
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_settings(texts: Iterable[str], option: str = "--set") -> dict[str, str]:
    """`name=value` texts as a mapping; the last of a name wins. `option`: by which they were given.
    Errors: `BadInput`."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(f"{option} {text}: expected NAME=VALUE", f"for example {option} crashes=2")
        settings[name.strip()] = value.strip()
    return settings


def parse_size(text: str) -> int:
    """A number of bytes: `8GiB`, `500M`, `1.5g`, `1048576`. Errors: `BadInput`."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = 0.0 if match is None else float(match[1]) * UNITS[match[2].lower()]
    if size < 1:
        raise BadInput(f"--memory {text}: not a size", "write a number with a unit, for example --memory 8GiB")
    if size > SIZE_MAX:
        raise BadInput(f"--memory {text}: more than 1024 TiB, which no machine has", "for example --memory 8GiB")
    return int(size)


def memory_limit(text: str | None) -> int | None:
    """Bytes at which to stop, as given, or by default; `None` where the machine does not say what it has."""
    from hacheck.supervise.resources import memory_default

    return memory_default() if text is None else parse_size(text)


class LimitOptions(TypedDict):
    """The limits of an exploration as the command line gives them; `None` where it says nothing."""

    states_max: int | None
    depth_max: int | None
    seconds_max: float | None
    memory_max: int | None


def parse_limits(states: str | None, depth: str | None, time: str | None, memory: str | None) -> LimitOptions:
    """The limits that `--states`, `--depth`, `--time` and `--memory` set. Errors: `BadInput`."""
    return LimitOptions(
        states_max=None if states is None else parse_count("--states", states),
        depth_max=None if depth is None else parse_count("--depth", depth),
        seconds_max=None if time is None else parse_seconds(time),
        memory_max=None if memory is None else parse_size(memory),
    )


def parse_jobs(jobs: str | None) -> int | None:
    """How many checks run side by side. Errors: `BadInput`."""
    return None if jobs is None else parse_count("--jobs", jobs)


def parse_seconds(text: str, option: str = "--time") -> float:
    """A time in seconds: `90`, `90s`, `5m`, `1.5h`. Errors: `BadInput`."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|m|min|h)?\s*", text, re.IGNORECASE)
    unit = {"s": 1, "m": 60, "min": 60, "h": 3600}["s" if match is None else (match[2] or "s").lower()]
    seconds = 0.0 if match is None else float(match[1]) * unit
    if seconds == 0:
        raise BadInput(f"{option} {text}: not a time", f"write seconds, or a number with s, m or h: {option} 5m")
    if seconds > SECONDS_MAX:
        raise BadInput(f"{option} {text}: longer than a year (8784h)", f"for example {option} 5m")
    return seconds


def parse_count(option: str, text: str) -> int:
    """A whole number above zero, up to what the option takes: `1000000`, `1_000_000`, `1M`, `2e6`. Errors:
    `BadInput`."""
    match = re.fullmatch(
        r"\s*([0-9]+(?:\.[0-9]+)?)(?:e([0-9]))?\s*([km]?)\s*", text.replace("_", "").replace(",", ""), re.I
    )
    number = 0.0
    if match is not None:
        number = float(match[1]) * 10 ** int(match[2] or 0) * {"": 1, "k": 1000, "m": 1000_000}[match[3].lower()]
    most = COUNTS_MAX.get(option, COUNT_MAX)
    if number > most:
        raise BadInput(
            f"{option} {text}: larger than {most:,}", f"for example {option} {EXAMPLES.get(option, 1_000_000)}"
        )
    if number < 1 or number != int(number):
        example = EXAMPLES.get(option, 1_000_000)
        raise BadInput(f"{option} {text}: not a whole number above zero", f"for example {option} {example}")
    return int(number)


def parse_folders(checkpoint: str | None, resume: str | None) -> Path | None:
    """The folder in which what was explored is kept: to go on from it means to keep it up to date."""
    if checkpoint is not None and resume is not None and Path(checkpoint) != Path(resume):
        raise BadInput("--checkpoint and --resume name different folders", "--resume alone keeps its folder up to date")
    folder = resume if resume is not None else checkpoint
    return None if folder is None else Path(folder)


def all_known(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Errors: `BadInput` for the first word given that is not among those known."""
    try:
        require_known(what, given, known)
    except InputError as error:
        raise BadInput(error.message, error.hint) from None
