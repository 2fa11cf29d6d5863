"""Seeded bugs of Fiorano's pairs: the one that shares its database, and the one with a copy each."""

from __future__ import annotations

from tests.quality.bugs import Bug


def shared(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the pair that shares its database."""
    return Bug(name, "fiorano-shared", f"fiorano.{module}", old, new, why)


def replicated(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the pair in which each server has a copy."""
    return Bug(name, "fiorano-replicated", f"fiorano.{module}", old, new, why)


FIORANO = (
    shared(
        "loses_the_lock_and_goes_on",
        "shared",
        "        elif lock is Lock.FREE:\n            self._go(Cause.LOCK_LOST)",
        "        elif lock is Lock.FREE and self.role is Phase.ACTIVATING:\n            self._go(Cause.LOCK_LOST)",
        "Who is ACTIVE stays so without the lock: no state change follows the line on it.",
    ),
    shared(
        "passive_before_the_lock_answers",
        "shared",
        "        self.lock_file.doubt()\n        self.channel.beat",
        "        self.lock_file.ask()\n        self.channel.beat",
        "A lock that was asked for counts as refused until the answer comes: PASSIVE before any line on the lock.",
    ),
    shared(
        "activation_skipped",
        "shared_states",
        "(Phase.PASSIVE, Cause.LOCK_OBTAINED): Phase.ACTIVATING",
        "(Phase.PASSIVE, Cause.LOCK_OBTAINED): Phase.ACTIVE",
        "A wrong entry of the table: who takes over is ACTIVE at once.",
    ),
    shared(
        "refusal_keeps_the_lock",
        "lock_file",
        "            self.state = Lock.HELD if granted else Lock.FREE\n",
        "            self.state = Lock.HELD if granted or self._had else Lock.FREE\n",
        "A holder that is refused writes that the lock is lost, and still believes that it holds it.",
    ),
    shared(
        "loss_notice_forgotten",
        "lock_file",
        "        self._is_lost()\n        self.state = Lock.FREE\n",
        "        self._is_lost()\n",
        "A holder that is told of its loss writes so, and changes nothing.",
    ),
    shared(
        "loss_not_noted",
        "lock_file",
        "    def _is_lost(self) -> None:\n        if self._had:\n            self._had = False\n",
        "    def _is_lost(self) -> None:\n        if self._had:\n",
        "State not reset: after a loss, taking the lock again leaves no line.",
    ),
    shared(
        "stops_and_goes_on",
        "shared",
        '        self.process.halt(f"the database cannot be used: {reason}")\n',
        "",
        "A server without its database says that it is DEAD, and goes on: it starts over without a first line.",
    ),
    shared(
        "passive_server_activates",
        "shared",
        "            elif lock is Lock.FREE and self.role is Phase.DEAD:\n",
        "            elif lock is Lock.FREE:\n",
        "Guard dropped: a PASSIVE server says again and again that it becomes PASSIVE.",
    ),
    shared(
        "previous_state_overwritten",
        "shared",
        "        self.previous, self.role = self.role, following\n",
        "        self.role = following\n        self.previous = self.role\n",
        "One assignment before the other: the line on a change of state has the new one twice.",
    ),
    replicated(
        "lock_kept_while_copying",
        "replicated",
        "        if self.role is Role.PASSIVE_SYNC:\n            self.lock_file.give_back()\n",
        "        if self.role is Role.PASSIVE_SYNC:\n",
        "Who makes a copy keeps the lock that it may have: no line says that it was released, and its peer is refused.",
    ),
    replicated(
        "takes_over_without_the_lock",
        "replicated_states",
        '(_R.PASSIVE, When("R19", link=_DOWN, lock=_HELD, alone=True))',
        '(_R.PASSIVE, When("R19", link=_DOWN, alone=True))',
        "Guard dropped: a PASSIVE server goes on alone as soon as the channel is down.",
    ),
    replicated(
        "lock_not_doubted",
        "replicated",
        "        if self.role in SERVING or self.role is Role.PASSIVE or promoted:\n",
        "        if self.role in SERVING or promoted:\n",
        "A PASSIVE server that loses its peer does not ask for the lock: it waits without having been refused.",
    ),
    replicated(
        "sync_complete_too_soon",
        "replicated_states",
        '(_R.ACTIVE_SYNC, When("R11", link=_UP, peer=(_R.PASSIVE,)))',
        '(_R.ACTIVE_SYNC, When("R11", link=_UP, peer=(_R.PASSIVE, _R.PASSIVE_SYNC)))',
        "The end of the copy is not waited for: ACTIVE, and synchronised, while the peer still makes its copy.",
    ),
    replicated(
        "peer_informed_late",
        "replicated",
        "PASSIVE_SYNC\n        self._announce()\n",
        "PASSIVE_SYNC\n        if self.role not in SERVING:\n            self._announce()\n",
        "A message forgotten: the peer is not told of states that serve, and nobody makes a copy.",
    ),
)
