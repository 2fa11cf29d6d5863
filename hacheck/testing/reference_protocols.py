"""The protocols of the reference implementation beside the specs that they follow.

Most follow one spec. Two follow another one besides, which says more of one side of them: IceStorm's clients, and
transactions of Qpid. So what is compared has a name of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from hacheck.impl.simulator.profiles import PROFILES

SPARED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "clients": {"crash": ("crash/one", "crash/coordinator", "crash/all")},
    "locks": {"lock-lost": (), "lock-told": (), "lock-late": (), "lock-stale": ()},
    "stores": {
        "cut": ("cut/bridge", "cut/ring", "cut/deaf", "cut/mute", "cut/pair", "cut/client"),
        "slow": ("slow/everywhere", "slow/pair"),
    },
}
"""What a spec may lack, and the faults that are left then, by kind: `clients` that end; `locks` that are lost while
somebody has them; `stores` that servers share and do not reach, or so slowly that others have taken over meanwhile."""


class Followed(Struct, frozen=True):
    """Which spec a protocol's code follows, and how they are compared: `docs/decisions/0019-the-code-and-the-specs.md`.

    - `code`: the protocol, by its name;
    - `spec`, `check`, `settings`: the spec, the check whose settings count, and settings besides;
    - `with_faults`: settings of the spec besides, for faults of a kind that leave no line of their own: with them more
      is explained, so they count only where such faults may happen;
    - `options`: settings of the code; `called`: the model's names of members, by the code's;
    - `varied`: settings of the code besides, each of which it follows the spec under, too: other time-outs, so that
      what mostly comes one after the other meets;
    - `comes_back`: somebody serves again after all faults, whatever they were; not so where a person must decide whose
      data count;
    - `clients_hit`: the machine stops clients, too, and cuts their links;
    - `alone`: there must be one client only; `spared`: what the spec has not, of `SPARED`;
    - `replicas`, `clients`: of a small cluster; `steps`: after so many of a schedule everything has happened once.
    """

    code: str
    spec: str
    check: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    with_faults: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    varied: tuple[Mapping[str, str], ...] = ()
    comes_back: bool = True
    replicas: int = 2
    clients: int = 1
    steps: int = 200
    clients_hit: bool = False
    alone: bool = False
    spared: frozenset[str] = frozenset()

    def faults(self, profile: str) -> str:
        """A profile of faults, for runs that are compared: as it is, or without what the spec has not."""
        without = {kind: hit for what in self.spared for kind, hit in SPARED[what].items()}
        kinds = PROFILES.get(profile) or profile.split(",")
        if not without.keys() & set(kinds):
            return profile
        left = [word for kind in kinds for word in without.get(kind, (kind,))]
        return ",".join(left) or "none"


_SERVERS = {"primary": "Server-1", "backup": "Server-2"}
_PAIR = {"primary-1": "Server-1", "backup-1": "Server-2"}
_CORRECTED_IN_ARTEMIS = (
    *("failing_back_for_ever", "announces_by_probe", "backup_unwatched"),
    *("critical_stop_pauses", "waiting_stop_pauses"),
)

_HURRIED_REPLICAS = {
    "master_timeout": "500ms",
    "election_timeout": "2s",
    "response_timeout": "400ms",
    "start_delay": "100ms",
    "invocation_timeout": "400ms",
    "client_period": "200ms",
    "workload": "updates",
}
_BUSY_PAIR = {"pause_us": "250000", "lock_check_us": "5000000", "lock_timeout_us": "12000000"}

_ONE_TRANSACTION = {
    "transactions": "replicated",
    "transaction_every": "1",
    "transactions_max": "1",
    "messages_max": "1",
    "send_interval_us": "300000",
    "send_from_us": "4000000",
    "trace_messages": "yes",
}
_LATE_TRANSACTION = {"send_interval_us": "700000", "send_from_us": "8000000"}

_CLIENTS_OF_TOPICS = {
    "publisher-1": "Publisher-1",
    **{f"subscriber-{number}": f"Subscriber-{number}" for number in (1, 2, 3)},
}

FOLLOWED: Mapping[str, Followed] = {
    "icestorm": Followed(
        "icestorm",
        "icestorm",
        "smallest_cure",
        {"max_after_push": "on", "overtaking": "1", "stamp_wiped_at_start": "off"},
        with_faults={kind: {"disk_errors": "on"} for kind in ("disk-full", "disk-error")},
        options={"client_period": "2s"},
        varied=(_HURRIED_REPLICAS,),
        replicas=3,
    ),
    "icestorm-topics": Followed(
        "icestorm-topics",
        "icestorm_topics",
        options={
            "client_period": "1s",
            "messages_max": "5",
            "topics_missing": "true",
            "trace_messages": "true",
        },
        called={"service-1": "Service-1"} | _CLIENTS_OF_TOPICS,
        replicas=1,
        clients=4,
    ),
    "fiorano-shared": Followed(
        "fiorano-shared",
        "fiorano_shared",
        settings={"database_cuts": "1"},
        options={"pause_us": "1000000"},
        called=_SERVERS,
        varied=(_BUSY_PAIR,),
    ),
    "fiorano-replicated": Followed(
        "fiorano-replicated",
        "fiorano_replicated",
        settings={"alone_from_waiting": "anyone", "stays_active_without_lock": "on"},
        options={"pause_us": "1000000"},
        called=_SERVERS,
    ),
    "artemis-shared-store": Followed(
        "artemis-shared-store",
        "artemis_shared_store",
        settings={
            "hand_over_by_delay": "on",
            "lock_losses": "1",
            "locks_expire": "any_time",
            **dict.fromkeys(_CORRECTED_IN_ARTEMIS, "off"),
        },
        options={"pause_us": "1000000"},
        called=_PAIR,
    ),
    "artemis-replication": Followed(
        "artemis-replication",
        "artemis_replication",
        options={"pause_us": "1000000"},
        called=_PAIR,
        comes_back=False,  # broker facts 2.10, AR-8: the copy that counts may have been laid aside
    ),
    "artemis-scale-down": Followed(
        "artemis-scale-down",
        "artemis_scale_down",
        "crash",
        options={
            "operations": "4",
            "spread_every": "1",
            "pause_us": "500000",
            "stop_every_us": "4000000",
            "reconnect_attempts": "-1",
        },
        settings={"servers": "2"},
        alone=True,
    ),
    "artemis-colocated": Followed(
        "artemis-colocated",
        "artemis_colocated",
        "no_look",  # nothing is checked of it that cut links break
        {"failures_noticed": "off", "max_backups": "2"},
        options={"pause_us": "5000000", "max_backups": "2"},
        comes_back=False,
        replicas=3,
    ),
    "qpid-standalone": Followed(
        "qpid-standalone",
        "qpid_standalone",
        options={
            "send_interval_us": "2500000",
            "queues": "1",
            "messages_max": "4",
            "trace_messages": "yes",
            "go_over_after_us": "4000000",
        },
        called={"broker-1": "Source-1", "broker-2": "Copy-1"},
        clients=2,
    ),
    "artemis-client": Followed(
        "artemis-client",
        "artemis_client",
        options={"operations": "4", "pause_us": "1000000"},
        called=_PAIR | {"client-1": "Client-1", "client-2": "Client-2"},
        clients=2,
        clients_hit=True,
        spared=frozenset({"clients", "locks", "stores"}),
    ),
    "artemis-lock-manager": Followed(
        "artemis-lock-manager",
        "artemis_lock_manager",
        settings={"lock_losses": "1"},  # a session ends while its broker is stopped, or cut off from the manager
        options={"pause_us": "1000000", "manager_ttl_us": "15000000"},
        called=_PAIR | {"manager-1": "Manager-1"},
    ),
    "qpid": Followed("qpid", "qpid_ha", options={"send_interval_us": "1000000"}, replicas=3, steps=500),
    "icestorm-clients": Followed(
        "icestorm",
        "icestorm_clients",
        settings={"proxy": "replicated"},
        options={
            "workload": "shared",
            "client_period": "2s",
            "messages_max": "8",
            "idle_close": "1s",
            "proxy": "replicated",
            "trace_messages": "true",
        },
        called={"client-1": "Publisher-1", "client-2": "Subscriber-1", "client-3": "Subscriber-2"},
        replicas=3,
        clients=3,
    ),
    "qpid-transactions": Followed(
        "qpid",
        "qpid_tx",
        settings={"tx": "replicated"},
        options=_ONE_TRANSACTION,
        called={"client-1": "Client-1"},
        varied=(_LATE_TRANSACTION,),
        steps=260,
        alone=True,
        spared=frozenset({"clients"}),  # there is one transaction, of a client that lives
    ),
}
"""By the name of what is compared: that of the protocol, or of the side of it that the spec describes."""
