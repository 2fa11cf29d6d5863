"""What is wrong with a file under many choices of settings, at little more than the cost of one."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language import settings
from hacheck.model.language.context import Context
from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.model.language.elaborate import Elaboration, fitted
from hacheck.model.language.fault_steps import Fault
from hacheck.model.language.log_lines import without_logs

Chosen = Mapping[str, ir.Constant]
"""Settings by name."""


class SoundDeclarations(Struct, frozen=True):
    """That handlers and all other declarations over the same types and variables are sound.

    `facts`: the types and variables. `chosen`: settings that checking them depended on. `expansions`: how many it took.
    """

    facts: object
    chosen: Chosen
    expansions: int


class Examination:
    """What is wrong with a file under one choice of settings after the other.

    A choice that differs from an earlier, sound one in nothing that decides what is declared is sound too: what is
    switched within conditions changes neither names nor types. One that declares the same types and variables, but for
    those that faults need, can be wrong only in what is said of faults: handlers see no more of these than conditions.

    Each `log` is elaborated until one choice is sound, and not again: most settings mean nothing to it, and comparing
    logs under others elaborates it under these.
    """

    def __init__(self, file: d.File, declarations: tuple[d.Declaration, ...], at: Span) -> None:
        self._file, self._declarations, self._at = file, declarations, at
        self._silent: tuple[d.Declaration, ...] = ()
        self._sound: list[Chosen] = []
        self._sound_declarations: list[SoundDeclarations] = []
        self.sizes: tuple[tuple[str, int], ...] = ()
        """What the pools of identities needed under the first settings."""

    def mistakes(self, given: settings.Given) -> tuple[Diagnostic, ...]:
        """Everything that is wrong under these settings. Cost: at most that of `elaborate`, and its first stages."""
        trial = self._begun(given)
        if trial.context.diagnostics:
            return tuple(trial.context.diagnostics)
        if any(_agrees(trial.context, chosen) for chosen in self._sound):
            return ()
        found = trial.declare()
        if found is not None:
            known = self._known(trial.context)
            trial = self._tried(trial, found) if known is None else self._with_faults(trial, found, known)
        if trial.context.diagnostics:
            return tuple(trial.context.diagnostics)
        self._sound.append(_chosen(trial.context))
        return ()

    def unfit_settings(self, given: settings.Given) -> tuple[Diagnostic, ...]:
        """What is wrong with these settings by themselves, whatever they make of the file."""
        return tuple(self._begun(given).context.diagnostics)

    def _begun(self, given: settings.Given) -> Elaboration:
        if self._sound and not self._silent:
            self._silent = without_logs(self._declarations)
        declarations = self._silent or self._declarations
        begun = Elaboration(self._file, declarations, given, self._at, dict(self.sizes))
        begun.settle()
        return begun

    def _known(self, context: Context) -> SoundDeclarations | None:
        """What is known of the same types and variables."""
        if context.counted:
            return None
        facts = _facts(context)
        return next(
            (one for one in self._sound_declarations if one.facts == facts and _agrees(context, one.chosen)), None
        )

    def _with_faults(self, trial: Elaboration, found: list[Fault], known: SoundDeclarations) -> Elaboration:
        """All but what is said of faults is sound. If that is not, everything is elaborated, for the order of
        mistakes."""
        context = trial.context
        context.expansions += known.expansions
        context.decisive.update(known.chosen)
        if trial.elaborate_faults(found):
            return trial
        again = self._begun(trial.given)
        found_again = again.declare()
        return again if found_again is None else self._tried(again, found_again)

    def _tried(self, trial: Elaboration, found: list[Fault]) -> Elaboration:
        """All that comes after the declaration of types and variables; kept if it is sound, to be elaborated but
        once."""
        context = trial.context
        declaring, context.decisive = context.decisive, set()
        facts = _facts(context)
        described = trial.elaborate_rest(found)
        sound = SoundDeclarations(facts, _chosen(context), context.expansions)
        context.decisive |= declaring
        if described is None:
            return trial
        if trial.pools and (context.counted or not self.sizes):
            _, trial = fitted(trial, trial.system(described))
            trial.context.decisive |= context.decisive
            if not self.sizes:
                self.sizes = tuple(trial.pools.items())
                again = self._begun(trial.given)
                again.declare()
                sound = SoundDeclarations(_facts(again.context), sound.chosen, sound.expansions)
        if not (trial.context.diagnostics or trial.context.counted):
            self._sound_declarations.append(sound)
        return trial


def _agrees(context: Context, chosen: Chosen) -> bool:
    return all(context.constants[name] == value for name, value in chosen.items())


def _chosen(context: Context) -> Chosen:
    return {name: context.constants[name] for name in context.decisive}


def _facts(context: Context) -> object:
    """What handlers, definitions and properties can know of the types and variables declared; none has been
    elaborated."""
    variables = {name: one for name, one in context.variables.items() if one.role not in ("status", "budget")}
    members = {word: tuple(kinds) for word, kinds in context.members.items()}
    return variables, dict(context.types), members, dict(context.atomic)
