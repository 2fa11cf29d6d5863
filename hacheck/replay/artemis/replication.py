"""Artemis 2.41 with replication as a product: its configuration from the settings of a run, and how its state is read.

**Source**: Artemis user manual, "High Availability and Failover", Data Replication;
Broker failover protocols, 2.4, 2.5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.cluster_session import missing, started, unmapped
from hacheck.replay.artemis.replication_steps import SERVING, VOTER, ReplicationSteps
from hacheck.replay.artemis.server_log import ACTIVE, IN_SYNC, Role, codes, role
from hacheck.replay.artemis.serving_servers import ServingServers
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import Masked
from hacheck.replay.product import Position
from hacheck.replay.recording import Recording
from hacheck.replay.traffic import Traffic

WITNESS = 100
"""The number of a message that a client sends once a copy is complete: where it is in the end shows what was lost."""

ONLY_WITH: Mapping[str, str] = {"detail": "steps", "writes": "atomic", "votes": "atomic", "primaries": "1"}
"""Settings that have to be so: packets cannot be held otherwise."""

NOT_CONFIGURED = ("network_check", "transactional", "grouped", "wrong_password", "backup_elsewhere", "retires")
"""Switches whose configuration the plug-in does not write."""

VOTE_RETRIES, VOTE_RETRY_WAIT_MS = 12, 500
MODES: Mapping[str, tuple[str, ...]] = {
    "active": SERVING,
    "waiting": ("locating", "syncing"),
    "stopped": ("stopping", "cut_off", "retired"),
}
"""What a log does not distinguish: the modes of the model for one role."""


class ArtemisReplication:
    """The product."""

    name = "artemis-replication"
    description = "Artemis 2.41 with replication: a primary, its backups and voters on loopback, behind proxies"
    specs = ("artemis_replication",)
    observed = ("Server.mode", "Server.complete", "Server.node_id", "Server.link", "Server.journal", "outbox")
    idle_actions = frozenset({"hear", "forget", "watch_link", "write_out", "locate"})
    settle_seconds = 8.0

    def missing(self) -> str | None:
        """Why no server can be started here."""
        return missing()

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that servers cannot be brought to."""
        on = [name for name in NOT_CONFIGURED if run.settings.get(name) == "on"]
        differs = f"{', '.join(on)}: the plug-in does not configure servers so" if on else None
        return unmapped(run, ONLY_WITH) or differs

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[ReplicationSession]:
        """The servers of the model, and a primary for each voter."""
        settings = position.run.settings
        servers = int(settings["primaries"]) + int(settings["backups"])
        voters = [VOTER + number for number in range(1, int(settings["pairs"]))]
        with started(recording, [*range(1, servers + 1), *voters]) as (brokers, traffic):
            brokers.voters = frozenset(voters)
            yield ReplicationSession(position, brokers, traffic, voters)


def policy_of(settings: Mapping[str, str]) -> Callable[[int, bool], str]:
    """What stands in `ha-policy` of a server: its number, and whether it is a primary."""
    size = int(settings["quorum_size"]) or -1

    def of(name: str) -> str:
        return str(settings[name] == "on").lower()

    def policy(member: int, primary: bool) -> str:
        own = member if member > VOTER else VOTER
        common = f"<group-name>pair-{own}</group-name><quorum-size>{size}</quorum-size>"
        vote = f"<vote-on-replication-failure>{of('vote_on_failure')}</vote-on-replication-failure>"
        retries = f"<vote-retries>{VOTE_RETRIES}</vote-retries><vote-retry-wait>{VOTE_RETRY_WAIT_MS}</vote-retry-wait>"
        if primary:
            look = f"<check-for-active-server>{of('check_for_active')}</check-for-active-server>"
            return f"<replication><primary>{common}{look}{vote}{retries}</primary></replication>"
        saved = f"<max-saved-replicated-journals-size>{settings['saved_journals']}</max-saved-replicated-journals-size>"
        back = f"<allow-failback>{of('allow_failback')}</allow-failback><restart-backup>true</restart-backup>"
        return f"<replication><backup>{common}{saved}{back}{vote}{retries}</backup></replication>"

    return policy


class ReplicationSession:
    """One run on one cluster."""

    def __init__(self, position: Position, brokers: Brokers, traffic: Traffic, voters: Sequence[int]) -> None:
        self.position, self.brokers, self.traffic, self.voters = position, brokers, traffic, voters
        self._policy = policy_of(position.run.settings)
        self._steps = ReplicationSteps(position, brokers, traffic, self._policy)
        self.steps = {name: self._counted(row) for name, row in self._steps.table.items()}
        traffic.holds = self._steps.holds
        self._serving = ServingServers(brokers)
        self._witness = ""

    def _counted(self, row: Callable[..., None]) -> Callable[..., None]:
        """A row of the table: the role of the server whose step it is counts from now on."""

        def act(**given: Json) -> None:
            row(**given)
            if not self._witness and any(mode == "in_sync" for mode in self.position.after["Server.mode"].values()):
                self._send_witness()
            self._steps.reacting.difference_update(given.get(name) for name in ("s", "t"))

        return act

    def _send_witness(self) -> None:
        """A client sends a message of its own to the server that serves, once a copy is complete."""
        serving = [n for n in self._steps.servers if self._steps.of("mode", n) == "active"]
        if serving:
            good, answer = self.brokers.ask("send", serving[0], str(WITNESS))
            self._witness = "acknowledged" if good else answer

    def begin(self) -> None:
        """Voters serve, and know each other; the servers of the model are started by their steps."""
        steps = self._steps
        self.brokers.configure({n: self._policy(n, n not in steps.backups) for n in self.brokers.members})
        for voter in self.voters:
            steps.log.start(voter)
        for voter in self.voters:
            steps.log.code(voter, *ACTIVE)

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The logs of all servers."""
        return {n: self.brokers.evidence(n) for n in self._steps.servers}

    # ---- state ----

    def observe(self) -> Mapping[str, Json]:
        """Roles as the logs show them; node ids and contents of servers that serve; what clients were answered."""
        names = ("mode", "complete", "node_id", "link", "journal")
        found: dict[str, dict[str, Json]] = {f"Server.{name}": {} for name in names}
        for n in self._steps.servers:
            if not self._is_shown(n):
                continue
            key, shown = str(n), self._role(n)
            found["Server.mode"][key] = self._mode(n, shown)
            found["Server.complete"][key] = shown.complete and not self._has_lost_its_data(n)
            if shown.mode == "stranded":
                found["Server.link"][key] = None
            elif shown.mode == "in_sync" and self._steps.of("mode", n) == "in_sync":
                found["Server.link"][key] = f"link {self._times_in_sync(n)} of server {n}"
            if shown.mode == "active" and self._steps.of("mode", n) == "active":
                if self._steps.of("complete", n):
                    found["Server.node_id"][key] = self._serving.node_id(n)
                if self._steps.sent:
                    numbers = self.brokers.numbers(n) or []
                    found["Server.journal"][key] = [number for number in numbers if number < WITNESS]
        acknowledged = {number for number, answer in self._steps.sent.items() if answer == "ok"}
        everything = self.position.run.initial["outbox"]
        return {**found, "outbox": sorted(number for number in everything if number not in acknowledged)}

    def _has_lost_its_data(self, n: int) -> bool:
        """Whether its disk was lost, and it has copied nothing since; a log does not say so."""
        since = self._steps.faults.wiped.get(n)
        return since is not None and IN_SYNC not in codes(self.brokers.lines(n)[since:])

    def _times_in_sync(self, n: int) -> int:
        return codes(self.brokers.lines(n)).count(IN_SYNC)

    def _is_shown(self, n: int) -> bool:
        """Whether a server runs, has begun, is not paused, and has no step to come that it has taken already. One that
        has copied everything for a failback hands over at once: it closes its connections, and starts again as a
        backup in its own time."""
        steps, brokers = self._steps, self.brokers
        return (
            brokers.runs(n)
            and not (steps.of("for_failback", n) and steps.of("phase", n) == "done")
            and steps.of("mode", n) != "handing_over"
            and n not in brokers.processes.paused
            and n not in steps.reacting
            and bool(brokers.log_parts(n)[1])
        )

    def _role(self, n: int, lines: int | None = None) -> Role:
        """The role of a server now, or after so many lines of its log."""
        before, current = self.brokers.log_parts(n)
        if lines is not None:
            current = current[: max(0, lines - len(before))]
        return role(before, current, backup=n in self._steps.backups)

    def _mode(self, n: int, shown: Role) -> str:
        """The model's mode, where the log shows it or does not distinguish it from what it shows. Servers that do not
        serve go on by themselves: that their last step came out is enough. That one serves is seen at once."""
        modelled = str(self._steps.of("mode", n))
        possible = MODES.get(shown.mode, (shown.mode,))
        if modelled in possible:
            return modelled
        then = self._role(n, self._steps.log.waited_for(n)).mode
        if "active" not in (shown.mode, then) and modelled in MODES.get(then, (then,)):
            return modelled
        return possible[0]

    # ---- the end ----

    def linger(self, seconds: float) -> None:
        """Nothing is held any more; no server may change its role, and what every server is at counts."""
        self._steps.reacting.clear()
        self.traffic.holds = lambda message: False
        for kind in ("request", "reply"):
            self.traffic.let_all(kind=kind)
        before = {n: self._role(n) for n in self._steps.servers if self._is_shown(n)}
        time.sleep(seconds)
        for n, shown in before.items():
            if self._role(n).mode != shown.mode:
                raise Masked(f"server {n} goes on by itself: it was {shown.mode}, and is {self._role(n).mode}")

    def conclude(self) -> Sequence[str]:
        """Every server that serves, its node id and messages, and whether it acknowledges another one."""
        found = [f"client: message {number}: {answer}" for number, answer in sorted(self._steps.sent.items())]
        if self._witness:
            found.append(f"client: message {WITNESS}, sent when a copy was complete: {self._witness}")
        for n in self._steps.servers:
            if not self.brokers.runs(n):
                found.append(f"server {n}: down")
                continue
            shown = self._role(n)
            words = f"server {n}: {shown.mode}, {'complete' if shown.complete else 'its copy was never completed'}"
            good, more = True, "and paused"
            if n not in self.brokers.processes.paused:
                good, more = self._serving.acknowledges(n, WITNESS + n) if shown.mode == "active" else (False, "")
            if not good and self._steps.of("mode", n) == "active":
                raise Masked(f"the model has server {n} serve, and it has stopped by itself: {words} {more}")
            words = f"{words}, {more}" if more else words
            found.append(words)
        return found
