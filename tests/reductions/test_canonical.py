"""Symmetric states have one representative, which is one of them."""

from __future__ import annotations

import random

import pytest

from hacheck.checker.explicit.symmetry.canonical_states import canonicaliser
from hacheck.compile.codegen.word_layout import word_count
from hacheck.compile.kernels.to_llvm import kernel_ir_of_source
from hacheck.compile.kernels.to_python import as_python_of_source
from hacheck.compile.lowering.layout import pack, unpack
from hacheck.compile.machine.compiler import KERNEL_LEVELS, compile_object, link
from hacheck.model.types import Node
from tests.nightly import first_of
from tests.reductions.layouts import Case, cases
from tests.reductions.searching import counted, representatives

ORBIT_MAX = 150


@pytest.mark.parametrize("first", first_of(range(0, 80, 20)))
def test_symmetric_states_have_one_representative_among_them(first: int) -> None:
    for case in cases(first, 20):
        made = canonicaliser(case.system, case.lowered.layout, case.classes)
        functions = as_python_of_source(made.canonical, {}) | as_python_of_source(made.counting, {})
        chance, layout = random.Random(first), case.lowered.layout
        for state in case.states:
            symmetric = [state, *(case.shuffled(state, chance) for _ in range(5))]
            packed = [pack(layout, other) for other in symmetric]
            found = set(representatives(functions["canonical"], word_count(layout), packed))
            assert len(found) == 1, (case.types, case.classes, state)
            assert representatives(functions["canonical"], word_count(layout), list(found)) == list(found)
            if case.group_size <= ORBIT_MAX:
                orbit = case.orbit(state)
                assert {unpack(layout, one) for one in found} <= orbit
                if all(isinstance(one.kind, Node) for one in case.classes):
                    assert counted(functions["count_orbits"], word_count(layout), list(found)) == len(orbit)


def test_compiled_it_finds_the_same_representatives() -> None:
    for case in cases(500, 5):
        made = canonicaliser(case.system, case.lowered.layout, case.classes)
        objects = [
            compile_object(kernel_ir_of_source(made.canonical, {}, ["canonical"]), KERNEL_LEVELS),
            compile_object(kernel_ir_of_source(made.counting, {}, ["count_orbits"]), KERNEL_LEVELS),
        ]
        linked = [link([one]) for one in objects]
        _assert_same(case, made.canonical, linked[0].function("canonical", 2))
        packed = representatives(linked[0].function("canonical", 2), word_count(case.lowered.layout), _packed(case))
        python = as_python_of_source(made.counting, {})["count_orbits"]
        native = linked[1].function("count_orbits", 2)
        assert counted(native, word_count(case.lowered.layout), packed) == counted(
            python, word_count(case.lowered.layout), packed
        )


def _packed(case: Case) -> list[int]:
    return [pack(case.lowered.layout, state) for state in case.states]


def _assert_same(case: Case, text: str, native: object) -> None:
    python = as_python_of_source(text, {})["canonical"]
    count = word_count(case.lowered.layout)
    assert representatives(native, count, _packed(case)) == representatives(python, count, _packed(case))  # type: ignore[arg-type]
