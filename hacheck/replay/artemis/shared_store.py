"""Artemis 2.41 with a shared store as a product: `--on artemis-shared-store`.

Servers hand over by lock files, not by packets. So the replay itself has the PrimaryLock while no step of the run takes
it: a server gets it when its step is due, and others that try are stopped meanwhile. From the lock to serving a server
goes by itself: it is let go where the model has it serve. The state byte is read from the lock file.
**Source**: Artemis user manual, "High Availability and Failover", Shared Store; Broker failover protocols, 2.2.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.cluster_session import missing, started, unmapped
from hacheck.replay.artemis.log_waiting import LogWaiting
from hacheck.replay.artemis.network_folder import Locks, Mount, lacking
from hacheck.replay.artemis.server_log import (
    ACTIVE,
    ANNOUNCED,
    PRIMARY_LOCK_WAITED_FOR,
    STARTED_AS_BACKUP,
    STOPPED,
    shared_store_mode,
)
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import EnvironmentLacks, Masked, NotCarriedOut
from hacheck.replay.product import Position, until
from hacheck.replay.recording import Recording
from hacheck.replay.traffic import Traffic

PRIMARY = 1
ONLY_WITH: Mapping[str, str] = {
    "detail": "steps",
    "calls": "atomic",
    "lock_store": "files",
    "primaries_only": "off",
    "hand_over_by_delay": "off",
    "transactions": "off",
}
BYTES: Mapping[bytes, str] = {
    b"L": "live",
    b"F": "failing_back",
    b"P": "paused",
    b"0": "first_start",
    b"N": "first_start",
}
TRIES_SECONDS = 5.0
"""A backup that lets go of the lock tries it again after 2 s."""

LET_GO_SECONDS = 60.0
NETWORK_STEPS = frozenset({"cut Server - FileSystem", "lose PrimaryLock"})
"""What only a network file system does."""

PRIMARY_LOCK, STATE = "journal/serverlock.1", "journal/server.lock"


class ArtemisSharedStore:
    """The product."""

    name = "artemis-shared-store"
    description = "Artemis 2.41 with a shared store: a primary and its backups on one local folder"
    specs = ("artemis_shared_store",)
    observed = ("Server.mode", "FileSystem.byte", "Server.stored", "Client.unsent", "kept_passive")
    idle_actions = frozenset(
        {"tell_others", "take_over", "take_over.locked", "come_back", "ask_again", "watch_lock", "give_up_on_primary"}
    )
    settle_seconds = 8.0

    def missing(self) -> str | None:
        """Why no server can be started here."""
        return missing()

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that servers cannot be brought to."""
        return unmapped(run, ONLY_WITH)

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[SharedStoreSession]:
        """The primary and its backups."""
        members = range(1, int(position.run.settings["backups"]) + 2)
        with started(recording, members, shared=True) as (brokers, traffic):
            session = SharedStoreSession(position, brokers, traffic)
            try:
                yield session
            finally:
                session.gate.close()


class Gate:
    """The PrimaryLock, which the replay has while no server may take it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = (folder / "serverlock.1").open("wb")

    def shut(self) -> bool:
        """Takes the lock. Returns whether no server has it."""
        with suppress(OSError):
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def open(self) -> None:
        """Gives it back."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """At the end of the run."""
        self._file.close()


class NetworkGate:
    """The same, where servers mount the folder as one of a network file system: it refuses the lock. `only`: the server
    that may have it, while it is open for one. Errors: `OSError`."""

    def __init__(self, brokers: Brokers, *, hard: bool) -> None:
        self.locks, self._open = Locks(), False
        self.locks.may_take = lambda member, name: name != PRIMARY_LOCK or (self._open and self.only in (None, member))
        self.only: int | None = None
        folder = brokers.data(PRIMARY)
        folder.mkdir(parents=True, exist_ok=True)
        self.mounts: dict[int, Mount] = {}
        try:
            for s in brokers.members:
                brokers.mounts[s] = brokers.folder.parent / "mounts" / f"server-{s}"
                self.mounts[s] = Mount(s, folder, brokers.mounts[s], self.locks, hard=hard)
        except OSError:
            self.close()
            raise

    def shut(self) -> bool:
        """No server gets the lock. Returns whether none has it."""
        self._open = False
        return self.locks.holder(PRIMARY_LOCK) is None

    def open(self) -> None:
        """It can be had."""
        self._open = True

    def close(self) -> None:
        """At the end of the run."""
        for mount in self.mounts.values():
            mount.close()


class SharedStoreSession:
    """One run on one folder. `sent`: the messages of clients, by number, with what they were answered."""

    def __init__(self, position: Position, brokers: Brokers, traffic: Traffic) -> None:
        self.position, self.brokers, self.traffic = position, brokers, traffic
        self.servers = brokers.members
        self.log = LogWaiting(brokers)
        self.sent: dict[int, str] = {}
        self.store = brokers.data(PRIMARY) / "journal"
        self.gate: Gate | NetworkGate = self._gate()
        self.steps: Mapping[str, Callable[..., None]] = {
            "start": self.nothing,
            "restart Server": self.nothing,
            "start_as_primary": self.nothing,
            "start_as_primary.write_f": self.write_f,
            "lock_primary": self.will_serve,
            "join": self.join,
            "tell_others": self.nothing,
            "ask_again": self.nothing,
            "take_over": self.take_over,
            "take_over.locked": self.take_over_locked,
            "give_up_on_primary": self.give_up,
            "load_journal": self.load_journal,
            "complete_activation": self.complete_activation,
            "watch_lock": self.watch_lock,
            "watch_lock.stopping": self.stop_by_itself,
            "check_failback": self.nothing,
            "check_failback.stopping": self.hand_over,
            "come_back": self.nothing,
            "stop_cleanly": self.stop,
            "stop_cleanly.paused": self.nothing,
            "send_next": self.send_next,
            "crash Server": self.crash,
            "free PrimaryLock": self.nothing,
            "free BackupLock": self.nothing,
            "pause Server": self.pause,
            "resume Server": self.resume,
            "cut Server - FileSystem": self.cut_mount,
            "heal Server - FileSystem": self.heal_mount,
            "lose PrimaryLock": self.lose_lock,
        }

    def _gate(self) -> Gate | NetworkGate:
        """A local folder, unless the run needs more. Errors: `EnvironmentLacks`."""
        run = self.position.run
        if not any(step.action in NETWORK_STEPS for step in run.steps):
            return Gate(self.store)
        if (why := lacking()) is not None:
            raise EnvironmentLacks(f"a mount that fails, or a lock that is given away, takes a network folder: {why}")
        try:
            return NetworkGate(self.brokers, hard=run.settings["mount"] == "hard")
        except OSError as error:
            raise EnvironmentLacks(str(error)) from None

    def begin(self) -> None:
        """Nobody has been started, and the replay has the lock."""
        self.gate.shut()
        settings = self.position.run.settings
        over = "true" if settings["failover_on_shutdown"] == "on" else "false"
        failback = "false" if settings["no_failback"] == "on" else "true"
        shutdown = f"<failover-on-shutdown>{over}</failover-on-shutdown>"
        backup = f"<allow-failback>{failback}</allow-failback><restart-backup>true</restart-backup>"
        policies = dict.fromkeys(self.servers, f"<shared-store><backup>{shutdown}{backup}</backup></shared-store>")
        policies[PRIMARY] = f"<shared-store><primary>{shutdown}</primary></shared-store>"
        self.brokers.configure(policies)

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The logs of all servers."""
        return {s: self.brokers.evidence(s) for s in self.servers}

    # ---- what steps need ----

    def of(self, name: str, s: int, *, before: bool = False) -> Any:
        """A variable of a server in the model, after the step or before it."""
        return self.position.of(f"Server.{name}", s, before=before)

    def nothing(self, **_: Json) -> None:
        """What begins in a later step, or only a server inside does."""

    @contextmanager
    def _alone(self, s: int) -> Iterator[None]:
        """No other server can get the lock meanwhile: a network folder refuses it, else they are stopped."""
        if isinstance(self.gate, NetworkGate):
            self.gate.only = s
            yield
            self.gate.only = None
            return
        others = [t for t in self.servers if t != s and self.brokers.runs(t) and t not in self._paused()]
        for t in others:
            self.brokers.pause(t)
        try:
            yield
        finally:
            for t in others:
                self.brokers.resume(t)

    def _paused(self) -> set[int]:
        return self.brokers.processes.paused

    def _will(self, s: int, action: str) -> bool:
        """Whether a server takes such a step before it ends."""
        for step in self.position.following():
            if step.arguments.get("s") == s and step.action == action:
                return True
            if step.action in ("crash Server", "stop_cleanly") and s in (step.arguments.values()):
                return False
        return False

    # ---- starting ----

    def write_f(self, s: int) -> None:
        """The process of a primary is started, and has written its byte. It waits for the lock."""
        self.log.start(s)
        self.log.code(s, PRIMARY_LOCK_WAITED_FOR)

    def join(self, s: int) -> None:
        """The process of a backup is started, and has the BackupLock."""
        if not self.brokers.runs(s):
            self.log.start(s)
        self.log.code(s, STARTED_AS_BACKUP)

    def will_serve(self, s: int) -> None:
        """A server is given the lock where the model has it serve: from there on it goes by itself."""
        if not self._will(s, "complete_activation"):
            raise NotCarriedOut(f"server {s} goes from the lock to serving by itself, and ends in between in this run")

    def take_over(self, s: int) -> None:
        """A backup gets the lock: now, if it loses it before it looks at the byte. The folder is slow for it then."""
        if not isinstance(self.gate, NetworkGate) or not self._loses_before_look(s):
            return
        locks = self.gate.locks
        self.gate.mounts[s].stalls = lambda path: path == STATE and locks.holder(PRIMARY_LOCK) == s
        with self._alone(s):
            self.gate.open()
            until(f"the lock at server {s}", lambda: locks.holder(PRIMARY_LOCK) == s, TRIES_SECONDS)
            self.gate.mounts[s].stalls = lambda path: path == STATE
            self.gate.shut()

    def _loses_before_look(self, s: int) -> bool:
        for step in self.position.following():
            if step.action == "take_over.locked" and step.arguments["s"] == s:
                return False
            if step.action == "lose PrimaryLock":
                return True
        return False

    def load_journal(self, s: int) -> None:
        """A server that will be complete serves from that step on; another one in this run serves beside it."""
        if self.of("mode", s) == "active" and not self._will(s, "complete_activation"):
            self.log.code(s, *ACTIVE)

    def take_over_locked(self, s: int) -> None:
        """A backup has the lock, and looks at the byte: it lets go of it again, or will serve."""
        if isinstance(self.gate, NetworkGate):
            self._hold_monitors(s)
            self.gate.mounts[s].stalls = lambda path: False
            if self._lost(s):
                return
        if self.of("mode", s) == "activating":
            self.will_serve(s)
            return
        with self._alone(s):
            self.gate.open()
            time.sleep(TRIES_SECONDS)
            until(f"server {s} to let go of the lock", self.gate.shut, TRIES_SECONDS)

    def give_up(self, s: int) -> None:
        """A backup writes over the byte of a primary that is not there."""
        if self.of("mode", s) != "activating":
            return
        with self._alone(s):
            self.gate.open()
            self.log.code(s, *ACTIVE)

    def complete_activation(self, s: int) -> None:
        """A server gets the lock, and serves."""
        with self._alone(s):
            self.gate.open()
            self.log.code(s, *ACTIVE)

    # ---- failback, and ends ----

    def hand_over(self, s: int) -> None:
        """A backup that serves gives the lock back; nobody else may have it yet."""
        self.log.code(s, STOPPED, seconds=LET_GO_SECONDS)
        self.gate.shut()

    def stop(self, s: int) -> None:
        """An operator stops a server, which gives its lock back."""
        with self._alone(s):
            self.brokers.ask_to_stop(s)
            until(f"end of server {s}", lambda: not self.brokers.runs(s), LET_GO_SECONDS)
            self.gate.shut()

    def crash(self, n: int) -> None:
        """The process is killed. One that waits for failback is first let announce itself, where the server that serves
        gives way to it although it is gone."""
        if not self.brokers.runs(n):
            return
        gives_way = any(step.action == "check_failback.stopping" for step in self.position.following())
        if gives_way and self.of("mode", n, before=True) == "waiting":
            self.log.code(n, ANNOUNCED)
        with self._alone(n):
            self.brokers.kill(n)
            self.gate.shut()

    def cut_mount(self, a: int, b: int) -> None:
        """The mount of a server fails: what it asks of the folder is refused, or waits."""
        self._network().mounts[a].is_cut = True

    def heal_mount(self, a: int, b: int) -> None:
        """And is back."""
        self._network().mounts[a].is_cut = False

    def lose_lock(self, **_: Json) -> None:
        """The file system gives the lock away, and its holder does not hear of it."""
        self._network().locks.lose(PRIMARY_LOCK)

    def _network(self) -> NetworkGate:
        assert isinstance(self.gate, NetworkGate), "a run with such a step has a network folder"
        return self.gate

    def _hold_monitors(self, s: int) -> None:
        """Another server that serves looks at its lock when that is due, and not before: the folder is slow for it."""
        for t in self.servers:
            if t != s and self.of("mode", t) == "active":
                self._network().mounts[t].stalls = lambda path: path == STATE

    def watch_lock(self, s: int) -> None:
        """A server looks at its lock, as it does all the time where nobody holds it up."""
        if isinstance(self.gate, NetworkGate):
            self.gate.mounts[s].stalls = lambda path: False

    def stop_by_itself(self, s: int) -> None:
        """A server that found its lock lost has stopped."""
        self.log.code(s, STOPPED, seconds=LET_GO_SECONDS)

    def _lost(self, s: int) -> bool:
        """Whether a server believes that it has the lock, and it is another's, or nobody's."""
        return bool(self.of("mode", s) == "activating" and self._network().locks.holder(PRIMARY_LOCK) != s)

    def pause(self, n: int) -> None:
        """The process is stopped. Its lock stays, unless a step of the run takes it away."""
        self.brokers.pause(n)

    def resume(self, n: int) -> None:
        """It goes on."""
        self.brokers.resume(n)

    # ---- clients ----

    def send_next(self, c: int) -> None:
        """A client sends its oldest message, and waits for the acknowledgement, which it may not get."""
        number = min(self.position.before["Client.unsent"][str(c)])
        has = {s for s in self.servers if number in self.of("stored", s)}
        is_lost = number in self.position.after["Client.unsent"][str(c)]
        serving = [s for s in self.servers if self.of("mode", s, before=True) == "active" and (s in has or not is_lost)]
        for s in serving:
            good, answer = self.brokers.ask("send", s, str(number))
            self.sent[number] = ("the answer is lost" if is_lost else "ok") if good else answer
            if good:
                return

    # ---- state ----

    def observe(self) -> Mapping[str, Json]:
        """Modes as the logs show them, the byte, what servers that serve have, and what clients were answered."""
        modes: dict[str, Json] = {}
        stored: dict[str, Json] = {}
        for s in self.servers:
            if not self.brokers.runs(s) or s in self._paused() or not self.brokers.log_parts(s)[1]:
                continue
            modelled = self.of("mode", s)
            shown = shared_store_mode(self.brokers.log_parts(s)[1], backup=s != PRIMARY)
            if modelled != "activating" and not (modelled == "active" and not self.of("complete", s)):
                modes[str(s)] = shown
            if shown == "active" and self.sent:
                stored[str(s)] = self.brokers.numbers(s) or []
        unsent = [n for n in self.position.run.initial["Client.unsent"]["1"] if self.sent.get(n) != "ok"]
        found: dict[str, Json] = {"Server.mode": modes, "Server.stored": stored, "Client.unsent": {"1": unsent}}
        with suppress(OSError):
            byte = (self.store / "server.lock").read_bytes()[:1]
            if byte:
                found["FileSystem.byte"] = {"1": BYTES.get(byte, repr(byte))}
        return found

    # ---- the end ----

    def linger(self, seconds: float) -> None:
        """The lock is free for every server that tries it; no server may change its mode."""
        self.gate.open()
        before = self.observe()["Server.mode"]
        time.sleep(seconds)
        after = self.observe()["Server.mode"]
        changed = [s for s, mode in before.items() if after.get(s) != mode]
        if changed:
            raise Masked(f"server {changed[0]} goes on by itself: it is {after.get(changed[0], 'down')}")

    def conclude(self) -> Sequence[str]:
        """Who serves, and whether clients can reach anybody."""
        found = [f"client: message {number}: {answer}" for number, answer in sorted(self.sent.items())]
        byte = self.observe().get("FileSystem.byte", {}).get("1", "none")
        found.append(f"the state byte: {byte}; the PrimaryLock: {'free' if self.gate.shut() else 'taken by a server'}")
        for s in self.servers:
            if not self.brokers.runs(s):
                found.append(f"server {s}: down")
                continue
            mode = shared_store_mode(self.brokers.log_parts(s)[1], backup=s != PRIMARY)
            good, answer = self.brokers.ask("send", s, str(100 + s))
            found.append(f"server {s}: {mode}; another message: {'acknowledged' if good else answer}")
        return found
