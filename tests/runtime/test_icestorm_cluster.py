"""Three real IceStorm replicas, whose coordinator is killed and paused, and which lose and regain their majority.

**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm": with a majority there is service, without one
there is none, and what was acknowledged stays.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from hacheck.cli.running.administration import Administrator
from hacheck.impl.node import Name, Record
from hacheck.impl.protocols.icestorm.messages import View
from hacheck.impl.protocols.icestorm.oracle import IceStormOracle
from hacheck.impl.protocols.icestorm.store import Disk, decoded
from hacheck.impl.protocols.icestorm.system import SYSTEM
from hacheck.impl.recording import Line
from hacheck.impl.runtime.disk import Database
from hacheck.impl.system import Refused
from tests.cli.command import Ended, hacheck
from tests.runtime.clusters import Running, running, until

QUICK = {
    "start_delay": "50ms",
    "election_timeout": "600ms",
    "master_timeout": "500ms",
    "response_timeout": "300ms",
    "invocation_timeout": "300ms",
    "client_timeout": "800ms",
    "client_period": "20ms",
}
PATIENT = {**QUICK, "response_timeout": "5s", "invocation_timeout": "5s"}
"""For requests that must be carried out once: a replica whose coordinator answers late asks it again by itself, and the
client hears what came of the second time."""

REPLICAS = ("replica-1", "replica-2", "replica-3")


def views(cluster: Running) -> dict[Name, View]:
    """How those replicas stand that say so."""
    stands = Administrator(cluster.folder, 5.0).stands()
    return {f"replica-{number}": view for number, view in stands if isinstance(view, View)}


def coordinator(cluster: Running, size: int) -> Name:
    """Who coordinates a group of this size that replicates, once there is one."""
    found: list[Name] = []

    def there() -> bool:
        found[:] = [
            name
            for name, view in views(cluster).items()
            if view.state == "normal" and view.coord == view.id and len(view.group) + 1 == size
        ]
        return bool(found)

    until(there, f"a group of {size} replicates")
    return found[0]


def lines(cluster: Running) -> list[Line]:
    """What all have recorded so far, by time; all clocks are the same one."""
    decode = msgspec.json.Decoder(Line).decode
    found = [decode(line) for member in cluster.folder.load().members for line in cluster.lines(member.name)]
    return sorted(found, key=lambda line: line.time)


def acknowledged(cluster: Running) -> int:
    """How many updates clients know to be done."""
    return sum(line.event == "told" and line.fields["outcome"] == "ok" for line in lines(cluster))


def served(cluster: Running) -> None:
    """Waits until clients are served."""
    before = acknowledged(cluster)
    until(lambda: acknowledged(cluster) > before + 5, "clients are served")


def disk(cluster: Running, name: Name) -> Disk:
    """What a replica has on its disk."""
    database = Database(cluster.folder.disk(name), "icestorm")
    content = database.content()
    database.close()
    return decoded(content, name)


def judged(cluster: Running) -> IceStormOracle:
    """What clients were told, and whether the groups were what they must be."""
    described = cluster.folder.load()
    options = SYSTEM.options(described.settings)
    judge = IceStormOracle(described.members, options, SYSTEM.quiet_us(options))
    for line in lines(cluster):
        judge.saw(line.time // 1000, line.node, Record(line.event, line.fields))
    return judge


def test_nothing_acknowledged_is_lost_by_kills_pauses_cuts_and_a_lost_majority(tmp_path: Path) -> None:
    with running(tmp_path, "icestorm", 3, 2, QUICK | {"workload": "updates"}) as cluster:
        assert coordinator(cluster, 3) == "replica-3"
        served(cluster)

        cluster.do("kill", "replica-3")
        assert coordinator(cluster, 2) == "replica-2"
        served(cluster)
        cluster.do("restart", "replica-3")
        first = coordinator(cluster, 3)
        served(cluster)

        cluster.do("stop", first)
        second = coordinator(cluster, 2)
        assert second != first
        served(cluster)
        cluster.do("cont", first)
        third = coordinator(cluster, 3)

        cluster.do("cut", third)
        # The one that is cut off may believe for a moment that it still has a majority.
        until(lambda: coordinator(cluster, 2) != third, "another one coordinates")
        cluster.do("heal")
        coordinator(cluster, 3)
        served(cluster)

        cluster.do("kill", "replica-2", "replica-3")
        until(lambda: views(cluster)["replica-1"].state == "inactive", "the last one stops serving")
        before = acknowledged(cluster)
        assert hacheck("admin", "create", "late", "--time", "1s", "--dir", str(cluster.folder.place)).code == 3
        assert acknowledged(cluster) == before
        cluster.do("restart", "replica-2")
        coordinator(cluster, 2)
        served(cluster)
        cluster.do("restart", "replica-3")
        coordinator(cluster, 3)
        served(cluster)

    latest = max((disk(cluster, name) for name in REPLICAS), key=lambda found: found.stamp)
    judge = judged(cluster)
    assert judge.broken == []
    assert list(judge.topics.compared(latest.topics)) == []
    sure = Counter(item.wanted for item in judge.topics.items.values() if item.sure())
    assert sure["Create"] > 10
    assert sure["Destroy"] > 5
    without = {name: topic for name, topic in latest.topics.items() if name != min(latest.topics)}
    assert list(judge.topics.compared(without)) or list(judge.topics.compared({}))  # a loss would have been seen


def test_every_replica_may_be_killed_at_once_at_any_moment(tmp_path: Path) -> None:
    with running(tmp_path, "icestorm", 3, 2, QUICK | {"workload": "updates"}) as cluster:
        for _ in range(3):
            served(cluster)
            cluster.do("kill", *REPLICAS)
            for name in REPLICAS:
                cluster.do("restart", name)
        served(cluster)
    latest = max((disk(cluster, name) for name in REPLICAS), key=lambda found: found.stamp)
    judge = judged(cluster)
    assert judge.broken == []
    assert list(judge.topics.compared(latest.topics)) == []


# ---- the administration tool ---------------------------------------------------------------------------------------


def test_administration_shows_replicas_as_the_document_does_and_changes_topics(tmp_path: Path) -> None:
    """**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm", the output of `replica`."""
    with running(tmp_path, "icestorm", 3, 0, PATIENT) as cluster:

        def admin(*words: str) -> Ended:
            return hacheck("admin", *words, "--dir", str(cluster.folder.place))

        coordinator(cluster, 3)
        shown = admin("replica").out.splitlines()
        group = shown[3].partition("group name: ")[2]
        assert shown[0] == "replica count: 3"
        assert shown[1:7] == [
            "1: id:         1",
            "1: coord:      3",
            f"1: group name: {group}",
            "1: state:      normal",
            "1: group:",
            "1: max:        3",
        ]
        assert shown[13:] == [
            "3: id:         3",
            "3: coord:      3",
            f"3: group name: {group}",
            "3: state:      normal",
            "3: group:      1,2",
            "3: max:        3",
        ]
        assert admin("create", "b", "a").code == 0
        again = admin("create", "a")
        assert (again.code, again.err) == (2, "error: topic a exists\n")
        assert admin("link", "a", "b", "4").code == 0
        assert admin("links", "a").out == "a: b with cost 4\n"
        assert admin("link", "a", "c").err == "error: there is no topic a or none to link it to\n"
        assert admin("publish", "a", "one", "two").code == 0
        assert admin("unlink", "a", "b").code == 0
        assert admin("unlink", "a", "b").err == "error: unlink at topic a: NoSuchLink\n"
        cluster.do("kill", "replica-3")
        assert admin("destroy", "b").code == 0
        assert admin("topics").out == "a\n"
        assert admin("replica").out.splitlines()[-1] == "3: replica-3 is down"
        assert admin("link", "a").code == 2
        assert admin("remove", "a").err.startswith("error: unknown action `remove`")


def test_fewer_than_three_replicas_and_equal_identifiers_are_refused(tmp_path: Path) -> None:
    started = hacheck("cluster", "start", "icestorm", "--replicas", "2", "--dir", str(tmp_path / "two"))
    assert started.code == 2
    assert "IceStorm needs 3 replicas or more" in started.err
    assert not (tmp_path / "two").exists()
    with running(tmp_path, "icestorm", 3, 0, QUICK) as cluster:
        pass
    described = cluster.folder.cluster
    described.write_text(described.read_text().replace("replica-2", "replica-03"))
    again = hacheck("cluster", "start", "icestorm", "--dir", str(cluster.folder.place))
    assert again.code == 2
    assert "replica-3 and replica-03 both have the identifier 3: give each its own" in " ".join(again.err.split())


def test_database_of_a_newer_version_of_the_protocol_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, "icestorm", 3, 0, QUICK) as cluster:
        coordinator(cluster, 3)
    database = Database(cluster.folder.disk("replica-2"), "icestorm")
    database.write((("stamp", msgspec.msgpack.encode({"version": 2, "stamp": [1, 0]})),), True)
    database.close()
    with (
        pytest.raises(Refused, match=r"replica-2: `stamp` .* version 2, and this program reads version 1"),
        running(tmp_path, "icestorm", 3, 0, QUICK),
    ):
        pass
