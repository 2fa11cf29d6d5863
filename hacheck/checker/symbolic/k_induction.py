"""k-induction: what holds of every state, because k steps that keep it are never followed by one that breaks it.

All properties of states and steps, and every lemma, is tried together: each may be assumed of the k states before
the last, those that then break at the end are put aside, and so on until the rest carries itself. What is shown so is
assumed of every state from then on. The k states differ, so that a loop is not gone round.

**Source**: Sheeran, Singh, Stålmarck: Checking Safety Properties Using Induction and a SAT-Solver, FMCAD 2000;
Flanagan, Leino: Houdini, an Annotation Assistant for ESC/Java, FME 2001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Answer, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.answers import NOT_CHECKED, Explored, answer_of
from hacheck.checker.explicit.search_result import LivenessVerdict, Undecided
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.bounded_model_checking import BoundedFindings, Search
from hacheck.checker.symbolic.cti import Cti, cti_in, with_reachability
from hacheck.checker.symbolic.prepared_encoding import FINITE, Prepared, Wanted, prepare, prepared_or_answer
from hacheck.checker.symbolic.system_encoding import DOMAIN, ERROR
from hacheck.checker.symbolic.z3_library import Formula, Model
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled

NAME = "induction"
DEPTH = 3
"""The greatest k where nobody says."""

NOT_ANSWERED = "not decided by this engine, which looks at finite runs"

PROVABLE = ("invariant", "lemma", "step", "deadlock")


class InductionEngine(Struct, frozen=True):
    """Shows by k-induction that properties hold at every depth. `depth`: the greatest k, `None` for the limit on
    depth, or `DEPTH`. `reachability`: whether to find out if the states that speak against a proof are reachable.
    `finding`: whether to look for lemmas where those given do not do. `reductions`: whether to leave out what nothing
    to check depends on."""

    depth: int | None = None
    reachability: bool = True
    finding: bool = False
    reductions: bool = True

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: `Refused` without Z3; otherwise none for anything a spec can contain."""
        watch = Stopwatch(limits, report)
        depth = self.depth or limits.depth_max or DEPTH
        wanted = replace(FINITE, reductions=self.reductions)
        prepared = prepared_or_answer(
            system, with_lemmas(system, properties), properties, limits, report, watch, wanted
        )
        if isinstance(prepared, Answer):
            return prepared
        findings = BoundedFindings()
        proof = Proof(prepared, Search(prepared, findings))
        with watch.phase("solving"):
            proof.run(depth)
        lemmas: tuple[str, ...] = ()
        found_notes: tuple[str, ...] = ()
        if self.finding and proof.ctis:
            proof, lemmas, found_notes = with_found(system, proof, depth, limits, report, watch, wanted)
        ctis, prepared, findings = proof.ctis, proof.prepared, proof.search.findings
        if self.reachability and ctis:
            with watch.phase("checking counterexamples"):
                ctis = with_reachability(prepared, ctis, limits, report)
        answer = answer_of(Explored(prepared.subject, prepared.questions.properties, findings, not_answered), watch)
        own = properties or tuple(item.name for item in system.properties)
        answer = replace(answer, notes=(*answer.notes, *found_notes), lemmas=lemmas)
        return _worded(proof, ctis, answer, frozenset(own))


def not_answered(properties: tuple[Property, ...]) -> Sequence[LivenessVerdict]:
    """Of properties of infinite runs it says nothing."""
    return [Undecided(NOT_ANSWERED) for _ in properties]


def with_lemmas(system: System, properties: tuple[str, ...]) -> tuple[str, ...]:
    """The properties to check, and all lemmas, by name; nothing still means everything."""
    if not properties:
        return ()
    names = (*properties, *(item.name for item in system.properties if item.kind == "lemma"))
    return tuple(dict.fromkeys(names))


def with_found(
    system: System,
    before: Proof,
    depth: int,
    limits: Limits,
    report: Report,
    watch: Stopwatch,
    wanted: Wanted,
) -> tuple[Proof, tuple[str, ...], tuple[str, ...]]:
    """A proof with lemmas that were looked for, these as a spec may say them, and what to say of them; the proof at
    hand, and none, where they do not help."""
    from hacheck.checker.symbolic.lemma_search import FINDING_SECONDS_MAX, lemmas

    properties = tuple(item.name for item in before.prepared.questions.properties)
    names = tuple(name for name in properties if name in before.ctis or before.shown.get(name) == 1)
    until = watch.seconds() + FINDING_SECONDS_MAX
    within = replace(limits, wall_seconds_max=min(until, limits.wall_seconds_max or until))
    try:
        found, texts = lemmas(system, names, within, report, watch)
        if not found:
            return before, (), ("no lemmas were found that complete the proof",)
        larger = replace(system, properties=(*system.properties, *found))
        prepared = prepare(larger, (*properties, *(one.name for one in found)), limits, report, watch, wanted)
    except Cancelled as given_up:
        return before, (), (f"no lemmas were found that complete the proof: {given_up.reason}",)
    assert prepared is not None, "the system has an initial state"
    proof = Proof(prepared, Search(prepared, BoundedFindings()))
    with watch.phase("solving with lemmas"):
        proof.run(depth)
    if not set(before.ctis) & set(proof.shown):
        return before, (), ("no lemmas were found that complete the proof",)
    used = tuple(text for one, text in zip(found, texts, strict=True) if one.name in proof.shown)
    said = tuple(text for text in used if text is not None)
    notes = []
    if said:
        lemmas_found = "1 lemma that was" if len(said) == 1 else f"{len(said)} lemmas that were"
        what = "they hold under these settings, and can be written into the spec"
        if len(said) == len(used):
            what = "written into the spec, they save the search under these settings"
        notes = [f"proved with {lemmas_found} found; {what}", *said]
    if len(said) < len(used):
        count = f"{len(used) - len(said)} of {len(used)}"
        notes.append(f"{count} lemmas that were found are not shown, as the language has no words for them")
    return proof, said, tuple(notes)


class Proof:
    """The proof, for one k after the other.

    `candidates`: what is neither shown nor refuted, by name, with whether it is about steps. `shown`: by name the k
    with which it was. `ctis`: of the others what speaks against a proof with the last k.
    """

    def __init__(self, prepared: Prepared, search: Search) -> None:
        self.prepared, self.search = prepared, search
        self.unrolling, self.library = prepared.unrolling, prepared.library
        self.base: list[Formula] = []
        kinds = {prop.name: prop.kind for prop in prepared.questions.properties}
        self.candidates = {name: kind == "step" for name, kind in kinds.items() if kind in PROVABLE}
        if ERROR in search.open:
            self.candidates[ERROR] = False
        self.shown: dict[str, int] = {}
        self.ctis: dict[str, Cti] = {}
        self.stopped: str | None = None
        self.length = 0
        encoding = prepared.encoding
        self._keys = {name: [ERROR] if name == ERROR else encoding.keys_of(name) for name in self.candidates}

    def run(self, depth: int) -> None:
        """Tries k = 1, 2, … up to the depth, until nothing is left to show or a limit is met."""
        self.base.append(self.unrolling.at(DOMAIN, 0))
        try:
            for length in range(1, depth + 1):
                if not self.candidates:
                    return
                self.library.supervisor.depth = length
                if not self._base(length - 1):
                    return
                self._longer(length)
                while self._proved(length) and self.candidates:
                    pass
                self.length = length
            for name in list(self.candidates):
                self._explain(name, self.length)
        except Cancelled as given_up:
            self.stopped = given_up.reason

    def _base(self, length: int) -> bool:
        """Looks for runs of a length that break something; whether there may be longer ones."""
        search, findings = self.search, self.search.findings
        if length and not search.longer(length):
            findings.ended = True
            self.shown.update(dict.fromkeys(self.candidates, length))
            self.candidates.clear()
            return False
        search.look(length)
        findings.depth = length
        broken = {*findings.found, *findings.hits, *([ERROR] if findings.errors else [])}
        for name, keys in self._keys.items():
            if name in self.candidates and broken & set(keys):
                del self.candidates[name]
        return True

    def _longer(self, length: int) -> None:
        """One state more from which the last step goes; it differs from those before it."""
        place = length - 1
        if place:
            self.base += self.unrolling.step(place - 1)
        self.base += (self.unrolling.differ(earlier, place) for earlier in range(place))
        for name in self.shown:
            self.base += self._held(name, place)

    def _held(self, name: str, place: int) -> list[Formula]:
        """That something holds in a state, or of the step to it if there is one."""
        on_step = self._about_step(name)
        if on_step and not place:
            return []
        return [self.library.negation(self.unrolling.at(key, place - on_step)) for key in self._keys[name]]

    def _about_step(self, name: str) -> bool:
        return any(self.prepared.encoding.sought[key].kind == "step" for key in self._keys[name] if key != ERROR)

    def _broken(self, name: str, outcome: int, length: int) -> list[Formula]:
        """How a candidate may fail after an outcome, or of that step: nothing where it depends on nothing written."""
        encoding = self.prepared.encoding
        written = {slot for slot, _ in encoding.behaviour.steps[outcome].updates}
        keys = (
            self._keys[name]
            if self._about_step(name)
            else [key for key in self._keys[name] if written & encoding.reads[key]]
        )
        return [self.unrolling.after(key, outcome, length - 1) for key in keys]

    def _proved(self, length: int) -> bool:
        """Shows what carries itself with this k; whether there was something."""
        left = dict.fromkeys(self.candidates)
        outcomes = range(len(self.prepared.encoding.takes))
        unchecked = dict.fromkeys(outcomes)  # those of which it is not known that they keep what is left
        while left and unchecked:
            outcome = next(iter(unchecked))
            broken = {name: self._broken(name, outcome, length) for name in left}
            model = self._counterexample(broken, outcome, length)
            if model is None:
                del unchecked[outcome]
                continue
            for name, violations in broken.items():
                if any(model.holds(violation) for violation in violations):
                    del left[name]
            unchecked = dict.fromkeys(outcomes)  # less is assumed now
        for name in left:
            for place in range(length):
                self.base += self._held(name, place)
            self.shown[name] = length
            del self.candidates[name]
        return bool(left)

    def _counterexample(self, broken: Mapping[str, list[Formula]], outcome: int, length: int) -> Model | None:
        """Steps on which all of these are kept but for the last one, which has this outcome and breaks one in the way
        given. (Each outcome alone, with nothing else about, is far easier than all at once: what it does not touch is
        the same formula after it as before, and most take a hundredth of a second.)"""
        violations = [violation for listed in broken.values() for violation in listed]
        if not violations:
            return None
        solver = self.library.solver()
        solver.add(*self.base, self.unrolling.can(outcome, length - 1), self.library.any_of(violations))
        for name in broken:
            for place in range(length):
                solver.add(*self._held(name, place))
        return solver.model()

    def _explain(self, name: str, length: int) -> None:
        """Keeps what speaks against a proof of a candidate, all that was shown assumed."""
        for outcome in range(len(self.prepared.encoding.takes)):
            model = self._counterexample({name: self._broken(name, outcome, length)}, outcome, length)
            if model is not None:
                self.ctis[name] = cti_in(self.prepared, model, length, outcome)
                return


def _worded(proof: Proof, ctis: Mapping[str, Cti], answer: Answer, named: frozenset[str]) -> Answer:
    """The answer: what was shown, what was refuted, and what neither."""
    prepared = proof.prepared
    properties = [_one(proof, ctis, found) for found in answer.properties if not named or found.name in named]
    if answer.error is not None:
        properties = [
            PropertyAnswer(one.name, "unknown", NOT_CHECKED) if one.verdict == "holds" and one.run is None else one
            for one in properties
        ]
    notes = list(answer.notes)
    if ERROR in ctis or ERROR in proof.candidates:
        notes.append(
            "that no step is an error of the spec is not proved; it holds for runs of up to "
            f"{proof.search.findings.depth} steps"
        )
    reach = prepared.within(f"steps from states in which the properties hold, k up to {max(1, proof.length)}")
    coverage = replace(
        answer.coverage, stopped=proof.stopped, complete=False, action_counts=(), unreached=(), unexercised=()
    )
    return replace(
        answer, coverage=coverage, properties=tuple(properties), notes=tuple(notes), engine=NAME, reach=reach
    )


def _one(proof: Proof, ctis: Mapping[str, Cti], found: PropertyAnswer) -> PropertyAnswer:
    if found.run is not None:
        return found
    kind = next(prop.kind for prop in proof.prepared.questions.properties if prop.name == found.name)
    findings = proof.search.findings
    if kind not in PROVABLE:
        words = NOT_ANSWERED if kind != "reachable" else "not decided by this engine, unless few steps reach it"
        return PropertyAnswer(found.name, "unknown", words)
    if found.name in proof.shown:
        steps = proof.shown[found.name]
        how = "as every run ends" if findings.ended else "inductive" if steps == 1 else f"{steps}-inductive"
        return PropertyAnswer(found.name, "holds", proof.prepared.within(f"every depth ({how})"))
    cti = ctis.get(found.name)
    if cti is not None:
        words = f"not {proof.length}-inductive" if proof.length > 1 else "not inductive"
        seen = f"not violated up to depth {findings.depth}"
        return PropertyAnswer(found.name, "not-inductive", f"{words}; {cti.words}; {seen}", cti=cti.run)
    why = proof.stopped or "it was not tried"
    return PropertyAnswer(found.name, "unknown", f"not shown; stopped because {why}")
