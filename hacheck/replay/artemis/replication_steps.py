"""The table from the actions of `artemis_replication.ha` to what is done to servers and their packets.

What goes from server to server passes a proxy. Held there are registrations of backups, the files of a synchronization
and its end, the two messages of a server that hands over, and the votes that a backup asks for. What has no packet that
could be held begins when it is due: a server is started when its first step is. What a server does at once when a link
breaks it may have done before its step is due: its role counts again from that step on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Thread
from typing import Any, cast

from hacheck.replay.artemis import server_log
from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.faults import Faults
from hacheck.replay.artemis.log_waiting import SECONDS, LogWaiting
from hacheck.replay.model_run import Json
from hacheck.replay.outcomes import NotCarriedOut, Refuted
from hacheck.replay.product import Position, until
from hacheck.replay.traffic import Message, Traffic

FAIL_OVER_SECONDS = 75.0
"""A backup whose primary has said that it stops takes over by itself after 60 s."""

SENT_SECONDS = 1.0
"""So much later a message that a client has sent is in the journal of its server."""

HELD_REPLIES = frozenset({"sync_file", "sync_end", "stop_called", "fail_over"})
SERVING = ("active", "handing_over")
VOTER = 10  # voters are numbered from here on


class ReplicationSteps:
    """`sent`: the messages of clients, by number, with what they were answered. `reacting`: servers that lost a link
    and whose own step is still to come."""

    def __init__(self, position: Position, brokers: Brokers, traffic: Traffic, policy: Callable[[int, bool], str]):
        self.position, self.brokers, self.traffic, self.policy = position, brokers, traffic, policy
        self.servers = sorted(int(key) for key in position.before["Server.mode"])
        self.backups = {s for s in self.servers if s > int(position.run.settings["primaries"])}
        self.sent: dict[int, str] = {}
        self._early: dict[int, tuple[bool, str]] = {}
        self.reacting: set[int] = set()
        self.log = LogWaiting(brokers)
        self.faults = Faults(brokers, traffic, self._lost, lambda voter: VOTER + voter)
        self.table: Mapping[str, Callable[..., None]] = {
            "start_primary": self.start_primary,
            "locate": self.locate,
            "freeze_files": self.freeze_files,
            "copy_files": self.copy_files,
            "finish_sync": self.finish_sync,
            "publish": self.publish,
            "write_out": self.nothing,
            "too_slow": self.too_slow,
            "watch_link": self.watch_link,
            "ask_votes": self.ask_votes,
            "hear": self.nothing,
            "forget": self.nothing,
            "hand_over": self.hand_over,
            "finish_hand_over": self.finish_hand_over,
            "fail_over_timer": self.fail_over_timer,
            "stop": self.stop,
            "end_stranded": self.end_stranded,
            "promote": self.promote,
            "restart Server": self.restart,
            **self.faults.table,
        }

    # ---- what is held, and waiting ----

    def holds(self, message: Message) -> bool:
        """Whether a packet waits for its step. The votes by which a server that serves wants to stay pass: it waits
        for them for 5 s only."""
        if message.operation == "vote":
            n = message.source
            return n in self.servers and any(self.of("mode", n, before=old) not in SERVING for old in (True, False))
        if message.operation == "register":
            return message.kind == "request"
        return message.kind == "reply" and message.operation in HELD_REPLIES

    def of(self, name: str, n: int, *, before: bool = False) -> Any:
        """A variable of a server in the model, after the step or before it."""
        return self.position.of(f"Server.{name}", n, before=before)

    def packet(self, operation: str, source: int, target: int, kind: str, seconds: float = SECONDS) -> Message:
        """Waits for a packet, which stays held; the latest, if there are several."""
        found = partial(self.traffic.held, operation, source, target, kind)
        return cast(Message, until(f"{operation} from server {source} to {target}", found, seconds)[-1])

    def nothing(self, **_: Json) -> None:
        """What voters do by themselves, and a replica at once."""

    # ---- starting ----

    def start_primary(self, s: int) -> None:
        """The process is started now: it looks for a server of its node id, and serves, or becomes a backup."""
        if not self.brokers.runs(s):
            self.log.start(s)
        mode = self.of("mode", s)
        if mode == "starting":
            raise NotCarriedOut("Artemis does not ask for votes before a primary serves")
        if (
            self.log.code(s, *server_log.ACTIVE, server_log.STARTED_AS_BACKUP) == server_log.STARTED_AS_BACKUP
            and mode in SERVING
        ):
            raise Refuted(f"server {s} found one that serves under its node id, and became a backup")

    def restart(self, s: int) -> None:
        """A primary is started when its look around is due; a backup at once."""
        if s in self.backups:
            self.log.start(s)
            self.log.code(s, server_log.STARTED_AS_BACKUP)

    def promote(self, s: int) -> None:
        """A server that is down is configured as a primary."""
        self.backups.discard(s)
        self.brokers.configure({s: self.policy(s, True)})

    # ---- synchronization ----

    def locate(self, s: int) -> None:
        """A backup registers; its registration is held."""
        if not self.brokers.runs(s):
            self.log.start(s)
            self.log.code(s, server_log.STARTED_AS_BACKUP)
        partner = self.of("partner", s)
        if partner is not None:
            self.packet("register", s, partner, "request")

    def freeze_files(self, t: int) -> None:
        """The registration arrives. The files are listed, and the first one is held."""
        s = self.of("partner", t)
        self.traffic.let(self.packet("register", s, t, "request"))
        held = self.traffic.held
        found = lambda: held("sync_file", t, s, "reply") or held("sync_end", t, s, "reply")  # noqa: E731
        until(f"a file from server {t} to {s}", found, SECONDS)

    def copy_files(self, t: int) -> None:
        """All files arrive; the last message of the synchronization is held."""
        s = self.of("partner", t, before=True)
        if self.of("phase", t) != "copied":
            self.log.line(t, server_log.REPLICA_GONE)
            return
        sending = self._send_early(t)
        files = partial(self.traffic.let_all, "sync_file", t, s, "reply")
        found = lambda: self.traffic.held("sync_end", t, s, "reply")  # noqa: E731
        until(f"the end of the files from server {t} to {s}", found, SECONDS, files)
        files()
        sending.join()

    def finish_sync(self, t: int) -> None:
        """And that arrives, too."""
        s = self.of("partner", t, before=True)
        if self.of("phase", t) != "done":
            self.traffic.drop_all("sync_end", t, s, "reply")
            self.log.line(t, server_log.REPLICA_GONE if self.of("mode", t) in SERVING else r"(?:AMQ|HQ)222010")
            self.reacting.add(s)
            return
        self.traffic.let(self.packet("sync_end", t, s, "reply"))
        self.log.code(s, server_log.IN_SYNC)

    def _send_early(self, t: int) -> Thread:
        """A server acknowledges nothing while it waits for the answer to the end of a synchronization, and hands over
        as soon as that has come. Messages that the run has it take in between are sent while files are held: they are
        copied as well, acknowledged behind the files, and count when they are due.
        **Source**: `JournalStorageManager.startReplication`, `ReplicationManager.sendReplicatePacket`."""
        numbers: list[int] = []
        for step in self.position.following():
            if step.action == "publish" and step.arguments["s"] == t:
                numbers.append(min(self.position.run.state(step.number - 1)["outbox"]))
            elif step.action != "finish_sync" or step.arguments["t"] != t or not self.of("for_failback", t):
                break

        def send() -> None:
            for number in numbers:
                self._early[number] = self.brokers.ask("send", t, str(number))

        sending = Thread(target=send, daemon=True)
        sending.start()
        if numbers:
            time.sleep(SENT_SECONDS)
        return sending

    # ---- clients ----

    def publish(self, s: int) -> None:
        """A client sends a message, and waits for the acknowledgement, which it may not get."""
        number = min(self.position.before["outbox"])
        early = self._early.pop(number, None)
        good, answer = early or self.brokers.ask("send", s, str(number))
        is_lost = number in self.position.after["outbox"]
        self.sent[number] = ("the answer is lost" if is_lost else "ok") if good else answer
        if not good:
            raise Refuted(f"server {s} does not acknowledge message {number}: {answer}")
        if self.of("link", s, before=True) is not None and self.of("link", s) is None:
            self._go_on_alone(s)

    # ---- a link is lost ----

    def too_slow(self, s: int) -> None:
        """The server gives its replica up: the connection between them breaks, and may come again."""
        replica = self.of("partner", s, before=True)
        self._lost(s, replica)
        self.traffic.cut(s, replica)
        self.traffic.mend(s, replica)
        self._go_on_alone(s)

    def _lost(self, a: int, b: int) -> None:
        """Packets that were under way between two servers are gone, and each end notices at once."""
        for source, target in ((a, b), (b, a)):
            for operation in HELD_REPLIES:
                self.traffic.drop_all(operation, source, target, "reply")
            for operation in ("register", "vote"):
                self.traffic.drop_all(operation, source, target)
        self.reacting.update(n for n in (a, b) if n in self.servers and self._is_linked(n))

    def _is_linked(self, n: int) -> bool:
        return self.of("link", n, before=True) is not None or self.of("mode", n, before=True) == "voting"

    def watch_link(self, s: int) -> None:
        """A server finds that its link is gone: a backup asks for votes, which are held; who serves goes on, or stops
        because it does not get the votes to stay."""
        mode, before = self.of("mode", s), self.of("mode", s, before=True)
        if self.of("link", s) is not None:  # the other end answers
            return
        if before in SERVING:
            self._go_on_alone(s)
        elif mode in SERVING:
            self.log.code(s, *server_log.ACTIVE)
        else:
            self.log.code(s, server_log.VOTE_BEGUN)

    def _go_on_alone(self, s: int) -> None:
        """A server that serves gives its replica up, and stays if it gets the votes. Until these are counted it must
        not be requested more: Artemis 2.41 fails to start a replication then, and the new backup waits for ever."""
        self.log.line(s, server_log.REPLICA_GONE)
        settings = self.position.run.settings
        votes = settings["vote_on_failure"] == "on" and settings["pairs"] != "1"
        if votes and self.of("phase", s, before=True) == "done":
            self.log.code(s, *server_log.VOTES_COUNTED)
        if self.of("mode", s) == "stopping":
            self.log.code(s, server_log.STOPPED)

    def ask_votes(self, s: int) -> None:
        """The questions of a round reach the voters. Where the model has the last round of a vote, or one that is won,
        further rounds may be needed: a voter forgets a server in its own time."""
        mode = self.of("mode", s)
        if mode == "voting":
            self._ask(s)
            return
        if mode == "stranded":
            self.log.code(s, *server_log.STRANDED, meanwhile=lambda: self._ask(s))
            return
        won = (
            self.log.code(s, server_log.VOTE_WON, server_log.VOTE_LOST, meanwhile=lambda: self._ask(s))
            == server_log.VOTE_WON
        )
        if won != (mode in (*SERVING, "stopping")):
            raise Refuted(f"the vote of server {s} is {'won' if won else 'lost'}")
        self.log.code(s, *(server_log.ACTIVE if won else (server_log.STARTED_AS_BACKUP,)))

    def end_stranded(self, s: int) -> None:
        """An operator ends the process of a server that does nothing."""
        self.brokers.kill(s)

    def _ask(self, s: int) -> None:
        """Of the questions to each voter the latest counts: earlier ones have been given up."""
        for voter in self.brokers.members:
            questions = self.traffic.held("vote", s, voter)
            for question in questions[:-1]:
                self.traffic.let(question, drop=True)
            if questions:
                self.traffic.let(questions[-1])

    # ---- failback ----

    def hand_over(self, t: int) -> None:
        """Who serves gives way: it says so, and closes all connections but that to its replica. The message by which
        the replica is to take over is held, and what comes behind it on that connection."""
        partner = self.of("partner", t)
        says_so = partial(self.traffic.let_all, "stop_called", t, partner, "reply")
        found = partial(self.traffic.held, "fail_over", t, partner, "reply")
        until(f"the last message of server {t} to {partner}", found, SECONDS, says_so)
        says_so()

    def finish_hand_over(self, t: int) -> None:
        """Its second message arrives: the replica serves. Who gave way starts again as a backup."""
        partner = self.of("partner", t, before=True)
        self.traffic.let(self.packet("fail_over", t, partner, "reply"))
        if self.of("mode", partner) in SERVING:
            self.log.code(partner, *server_log.ACTIVE)
        self.log.code(t, server_log.STARTED_AS_BACKUP)

    def fail_over_timer(self, s: int) -> None:
        """The second message does not come."""
        self.traffic.drop_all("fail_over", None, s, "reply")
        self.log.code(s, *server_log.ACTIVE, seconds=FAIL_OVER_SECONDS)

    def stop(self, s: int) -> None:
        """A server that stopped leaves its process, which ends now."""
        if self.brokers.runs(s):
            self.brokers.kill(s)
