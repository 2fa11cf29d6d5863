"""What trials with raised limits have found, kept in the user's cache folder: a trial is run once, and the ordinary
report of a check can say what raising its limits found.

One JSON file for each spec, by the digest of what it means; within it a trial is found by its settings, its limits and
the properties checked. A file that cannot be read counts as none, and is written anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

import hacheck
from hacheck.atomic_files import replace_text
from hacheck.checker.limit_trials import ClaimResult, Explored, Plan, Trial, TrialResult, fewer, together
from hacheck.checker.verify import Question
from hacheck.cli.guard import version
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import digest

FORMAT = 1


@cache
def sources_digest() -> str:
    """Changes whenever hacheck's own language, model or engines do: what older ones found may be wrong. Some 10 ms."""
    from hacheck.compile.machine.build_identity import digest_of, sources

    root, endings = Path(hacheck.__file__).parent, (".py", ".json", ".lark")
    parts = ("model", "compile", "checker")
    found = (one for part in parts for one in sources(str(root / part), ("__pycache__",), endings))
    return digest_of(path for path, _ in sorted(found))[:24]


def bounds_folder() -> Path:
    """Where trials are kept."""
    from hacheck.compile.machine.object_cache import cache_folder

    return cache_folder() / "bounds"


class Raised(Struct, frozen=True):
    """What is known of a check with raised limits: trials with what they found, in the order in which they were made;
    those that were not begun, and why; and what cannot be raised."""

    plan: Plan
    found: tuple[tuple[Trial, TrialResult], ...]
    not_begun: tuple[Trial, ...] = ()


class KeptTrials(Struct):
    """The trials of one spec that are kept in a file. `digest`: of what the spec meant then; `made_by`: which
    hacheck ran them; `defaults`: of its settings; `titles`: the check and the limits of each trial; `explored`: what
    checks found within their own limits, where that is kept as well."""

    path: Path
    digest: str
    made_by: str
    defaults: Mapping[str, str]
    results: dict[str, TrialResult] = field(default_factory=dict)
    titles: dict[str, tuple[str, str]] = field(default_factory=dict)
    explored: dict[str, Explored] = field(default_factory=dict)

    def lookup(self, trial: Trial) -> TrialResult | None:
        """What the trial found when it was run."""
        found = self.results.get(key_of(trial))
        return None if found is None else replace(found, claims=_in_order(trial, found))

    def store(self, trial: Trial, result: TrialResult) -> None:
        """Keeps what a trial found, until `save`."""
        self.results[key_of(trial)] = result
        titles = ", ".join(one.title for one in trial.raises)
        self.titles[key_of(trial)] = (trial.question.name, titles)

    def refuted(self) -> set[tuple[str, str, str]]:
        """Every claim that a trial refutes: check, limits, property."""
        found = ((key, one.name) for key, result in self.results.items() for one in result.refuted)
        return {(*self.titles[key], name) for key, name in found}

    def save(self) -> None:
        """Writes the file. Errors: `OSError`."""
        content = {
            "format": FORMAT,
            "hacheck": self.made_by,
            "digest": self.digest,
            "explored": {key: explored_as_json(one, self.defaults) for key, one in sorted(self.explored.items())},
            "trials": {key: [*self.titles[key], as_json(one)] for key, one in sorted(self.results.items())},
        }
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_text(self.path, rows_of(content))


def _in_order(trial: Trial, found: TrialResult) -> tuple[ClaimResult, ...]:
    """A result for each claim of the trial: only what does not hold is kept."""
    kept = {one.name: one for one in found.claims}
    return tuple(kept.get(name, ClaimResult(name, "holds")) for name in trial.claims)


def kept_trials(specification: Specification, path: Path | None = None, *, outdated: bool = False) -> KeptTrials:
    """The trials kept for a spec, by default in the user's cache; none where nothing of this spec can be read. In the
    cache those of other sources of hacheck count as none, elsewhere those of another version. `outdated`: also those
    of what the spec meant earlier."""
    now = digest(specification)
    defaults = {one.name: one.default for one in specification.parameters}
    made_by = version() if path is not None else f"{version()} {sources_digest()}"
    kept = KeptTrials(path or bounds_folder() / f"{specification.name}-{now[:32]}.json", now, made_by, defaults)
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        content = json.loads(kept.path.read_text(encoding="utf-8"))
        current = (content["hacheck"], content["digest"]) == (made_by, now)
        if content["format"] == FORMAT and (current or outdated):
            kept.digest = str(content["digest"])
            results = {key: from_json(one) for key, (_, _, one) in content["trials"].items()}
            kept.titles = {key: (str(check), str(words)) for key, (check, words, _) in content["trials"].items()}
            kept.results = results
            kept.explored = {key: explored_from_json(one, defaults) for key, one in content["explored"].items()}
    return kept


def key_of(trial: Trial) -> str:
    """What a trial is kept under: everything that decides what it finds, but the spec."""
    raises = [[one.kind, one.name, one.after, one.index] for one in trial.raises]
    parts = [sorted(trial.question.settings), sorted(trial.settings), sorted(raises), sorted(trial.claims)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def known(kept: KeptTrials, plan: Plan) -> Raised | None:
    """What is kept of a check's trials; `None` where nothing is."""
    found: list[tuple[Trial, TrialResult]] = []
    not_begun: list[Trial] = []
    for trial in plan.trials:
        result = kept.lookup(trial)
        if result is None:
            not_begun.append(trial)
        else:
            found.append((trial, result))
    if not found:
        return None
    combined = None if not_begun else together(found)
    single = tuple(found)
    while combined is not None:
        result = kept.lookup(combined)
        if result is not None:
            found.append((combined, result))
        combined = fewer(combined, single) if result is not None and result.limited else None
    return Raised(plan, tuple(found), tuple(not_begun))


def rows_of(content: dict[str, Any]) -> str:
    """JSON with a row for each entry of its tables: as short as it may be, and changes are read row by row."""
    parts = []
    for name, item in content.items():
        whole = json.dumps(item, separators=(",", ":"))
        if isinstance(item, dict) and item:
            rows = (f"{json.dumps(key)}:{json.dumps(one, separators=(',', ':'))}" for key, one in item.items())
            whole = "{\n" + ",\n".join(rows) + "\n}"
        parts.append(f"{json.dumps(name)}: {whole}")
    return "{" + ",\n".join(parts) + "}\n"


def as_json(result: TrialResult) -> dict[str, Any]:
    """A result as JSON has it; of claims that hold nothing is said."""
    made: dict[str, Any] = {"states": result.states, "depth": result.depth, "seconds": round(result.seconds, 3)}
    made["refuted"] = {one.name: [one.steps, one.faults] for one in result.refuted}
    made["open"] = [one.name for one in result.claims if one.claim == "open"]
    if result.stopped:
        made["stopped"] = result.stopped
    if result.limited:
        made["limits"] = [result.seconds_max, result.states_max]
    return {name: item for name, item in made.items() if item or name == "states"}


def from_json(content: dict[str, Any]) -> TrialResult:
    """The result that `as_json` wrote, with the claims that do not hold. Errors: `KeyError`, `TypeError` or
    `ValueError` where it is no such thing."""
    refuted = (
        ClaimResult(str(name), "refuted", int(steps), int(faults))
        for name, (steps, faults) in content.get("refuted", {}).items()
    )
    unknown = (ClaimResult(str(name), "open") for name in content.get("open", []))
    limits = content.get("limits")
    seconds, states = (None, None) if limits is None else limits
    return TrialResult(
        (*refuted, *unknown),
        str(content.get("stopped", "")),
        limits is not None,
        int(content["states"]),
        int(content.get("depth", 0)),
        float(content.get("seconds", 0)),
        None if seconds is None else float(seconds),
        None if states is None else int(states),
    )


def explored_key(question: Question, settings: tuple[tuple[str, str], ...] = ()) -> str:
    """What a check is kept under."""
    expected = sorted(question.expect_violated)
    parts = [question.name, sorted(question.settings), sorted(question.only), expected, sorted(settings)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def explored_as_json(explored: Explored, defaults: Mapping[str, str]) -> dict[str, Any]:
    """What a check found, as JSON has it; its question is in the spec, and so are the settings that it leaves alone."""
    made = {
        "check": explored.question.name,
        "settings": dict(explored.question.settings),
        "values": {name: value for name, value in explored.values if defaults.get(name) != value},
        "claims": list(explored.claims),
        "states": explored.states,
        "cuts": list(explored.bounds_reached),
    }
    return made | ({"endless": list(explored.endless)} if explored.endless else {})


def explored_from_json(content: dict[str, Any], defaults: Mapping[str, str]) -> Explored:
    """What `explored_as_json` wrote. Errors: `KeyError`, `TypeError` or `ValueError` where it is no such thing."""
    values = tuple((str(name), str(value)) for name, value in {**defaults, **content["values"]}.items())
    settings = tuple((str(name), str(value)) for name, value in content["settings"].items())
    question = Question(str(content["check"]), settings=settings)
    claims, cuts = (tuple(str(one) for one in content[name]) for name in ("claims", "cuts"))
    endless = tuple(str(one) for one in content.get("endless", ()))
    return Explored(question, values, claims, int(content["states"]), cuts, endless)
