"""An encoding as a script of SMT-LIB 2 that Z3 and others read: `hacheck inspect SPEC --smt`."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.checker.explicit.property_conditions import NO_VALUE
from hacheck.checker.symbolic.bit_vector_terms import junction
from hacheck.checker.symbolic.prepared_encoding import encoded
from hacheck.checker.symbolic.system_encoding import CAN, DOMAIN, ERROR, INIT, ONE, Encoding
from hacheck.model.ir import System

HEAD = """\
; {name}: what `hacheck` asks of Z3. Settings: {settings}.
;
; A state is a value for each constant |x|, the state after a step one for each |x'|. A constant that begins with a
; number and an action is true when the step is this one. Slots that no step changes, and those that no checked property
; depends on, are left out.
;
;   init      the state is an initial one
;   domain    the contents of slots are a state
;   trans     there is a step from the state to the one after it
;   error     some step from the state is an error of the spec
;   found.P   the state (of `step_invariant`: the step) violates P; of `reachable`: it reaches P
;   error.P   P has no value in the state
"""


def script_of(system: System) -> str:
    """The script of a system and all its properties to check. Errors: `EvaluationError` where it cannot even begin."""
    return "\n".join(_lines(encoded(system)))


def _lines(encoding: Encoding) -> Iterator[str]:
    system = encoding.lowered.system
    settings = ", ".join(f"{name} = {value}" for name, value in system.settings) or "none"
    yield HEAD.format(name=system.name, settings=settings)
    yield "(set-logic QF_BV)"
    yield from (symbol.declaration for symbol in encoding.symbols)
    yield from encoding.lines
    formulas = encoding.formulas
    steps = [text for name, text in formulas.items() if name in (ONE, CAN) or name.startswith(".next ")]
    yield from (_defined(name[1:], formulas[name]) for name in (INIT, DOMAIN, ERROR))
    yield _defined("trans", junction("and", steps))
    for key in encoding.sought:
        name = f"error.{key.removeprefix(NO_VALUE)}" if key.startswith(NO_VALUE) else f"found.{key}"
        yield _defined(name, formulas[key])
    yield '(echo "an initial state, and a step from it:")'
    yield "(push 1)\n(assert init)\n(assert trans)\n(check-sat)\n(pop 1)"
    for key, item in encoding.sought.items():
        if item.kind != "step" and not key.startswith(NO_VALUE):
            yield f'(echo "{key}, found in an initial state:")'
            yield f"(push 1)\n(assert init)\n(assert |found.{key}|)\n(check-sat)\n(pop 1)"
    yield ""


def _defined(name: str, text: str) -> str:
    return f"(define-fun |{name}| () Bool {text})"
