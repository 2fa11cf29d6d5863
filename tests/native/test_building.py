"""What is kept compiled is found again where nothing that matters has changed, and only there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.checker.engine import Limits
from hacheck.checker.explicit import native_program
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.reduction_data import (
    Dropped,
    Reductions,
    Unlike,
    reductions_from_json,
    reductions_to_json,
)
from hacheck.compile.artifact import described
from hacheck.compile.codegen import successor_functions
from hacheck.compile.codegen.system_module import emit_in_parts
from hacheck.model.ir import FALSE, System
from hacheck.model.language import load
from hacheck.model.symmetry_types import SymmetryClass
from hacheck.model.types import Identity
from tests.models.quorum_election import quorum_election
from tests.strategies import seeded_system

ROOT = Path(__file__).parents[2]
ICESTORM = ROOT / "spec" / "icestorm.ha"


def icestorm(text: str, check: str = "smoke") -> System:
    """The system of a check."""
    loaded = load(text, str(ICESTORM))
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}, check).system
    assert system is not None
    return system


def test_words_and_lines_of_the_file_do_not_matter() -> None:
    text = ICESTORM.read_text(encoding="utf-8")
    shifted = "# a remark\n\n" + text.replace("at most one serving replica believes", "at most one replica believes")
    assert shifted.count("at most one replica believes") == 1
    assert described(icestorm(text)) == described(icestorm(shifted))


def test_what_a_system_does_matters() -> None:
    texts = {described(seeded_system(seed)) for seed in range(200)}
    assert len(texts) == len({repr(seeded_system(seed)) for seed in range(200)})
    election = quorum_election(3, 2, 1)
    first = election.actions[0]
    changed = replace(election, actions=(replace(first, guard=FALSE), *election.actions[1:]))
    assert described(changed) != described(election)
    assert described(quorum_election(3, 2, 1, broken=True)) != described(election)


def test_every_process_describes_a_system_alike() -> None:
    code = (
        "import hashlib; from tests.native.test_building import ICESTORM, icestorm\n"
        "from hacheck.compile.artifact import described\n"
        "print(hashlib.sha256(described(icestorm(ICESTORM.read_text())).encode()).hexdigest())"
    )
    seen = set()
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join((str(ROOT), *sys.path))}
        ended = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        seen.add(ended.stdout)
    assert len(seen) == 1


def test_reductions_are_read_as_they_were_written() -> None:
    system = icestorm(ICESTORM.read_text(encoding="utf-8"))
    groups = next(one for one in seen_kinds(system) if one.name == "Group")
    symmetric = (SymmetryClass(system.nodes[0], (1, 2, 3)), SymmetryClass(groups, (1, 2)))  # type: ignore[arg-type]  # a pool
    made = Reductions(
        symmetric, (Unlike("Replica", ("it is ranked",)),), (Dropped("Replica.reaped", 3, whole=True),), False
    )
    assert reductions_from_json(reductions_to_json(made), system) == made


def seen_kinds(system: System) -> list[Identity]:
    """The pools of identities."""
    from hacheck.model.symmetry_types import parts_of

    parts = (part for variable in system.variables for part in parts_of(variable.type))
    return [part for part in parts if isinstance(part, Identity)]


@pytest.mark.parametrize("change", ["facts", "program", "reductions"])
def test_what_is_kept_and_makes_no_sense_is_made_again(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, engine = quorum_election(3, 1, 0), NativeEngine(cache=tmp_path)
    expected = engine.check(system, (), Limits(), lambda _: True)
    real = native_program.ObjectCache.lookup  # type: ignore[attr-defined]

    def damaged(self: native_program.ObjectCache, key: str) -> native_program.Entry | None:  # type: ignore[name-defined]
        entry = real(self, key)
        if entry is None or not isinstance(entry.facts, dict):
            return entry
        facts = [] if change == "facts" else {**entry.facts, change: "nothing of the kind"}
        return native_program.Entry(entry.objects, facts)  # type: ignore[attr-defined]

    monkeypatch.setattr(native_program.ObjectCache, "lookup", damaged)  # type: ignore[attr-defined]
    found = engine.check(system, (), Limits(), lambda _: True)
    assert (found.properties, found.coverage.states) == (expected.properties, expected.coverage.states)


@pytest.mark.parametrize("optimise", [False, True])
def test_functions_in_modules_of_their_own_do_the_same(
    optimise: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = quorum_election(3, 2, 0)
    answers, lines = [], []
    for statements in (2_000, 10):
        monkeypatch.setattr(successor_functions, "_CHUNK_STATEMENTS", statements)
        engine = NativeEngine(cache=tmp_path / str(statements), optimise=optimise)
        answer = engine.check(system, (), Limits(), lambda _: True)
        answers.append((answer.properties, answer.coverage.states, answer.coverage.transitions))
        form = native_program.lowered_form(system, (), reduces=True)
        parts = emit_in_parts(form.lowered, form.questions.sought, form.questions.unblocking)
        texts = list(parts.texts)
        assert len(texts) == parts.count
        lines.append([text.count("\n") for text in texts])
    assert answers[0] == answers[1]
    assert len(lines[0]) == 1
    assert len(lines[1]) > 3
    assert lines[1][0] < lines[0][0] / 2
