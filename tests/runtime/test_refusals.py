"""What must not start says so, in one line for each thing that is wrong, whatever the protocol; then nothing runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from hacheck.impl.runtime.control import planned
from hacheck.impl.runtime.disk import Database
from hacheck.impl.runtime.folder import Folder, hold, store
from hacheck.impl.system import Refused
from hacheck.impl.systems import names
from hacheck.replay.processes import free_base
from tests.runtime.clusters import refused, running, until

NEWER = msgspec.msgpack.encode({"version": 9})

OWN: Mapping[str, tuple[str, str]] = {
    "qpid": ("broker-1", "broker"),
    "qpid-standalone": ("broker-1", "broker"),
    "artemis-replication": ("primary-1", "identity"),
    "artemis-colocated": ("server-1", "identity"),
    "fiorano-replicated": ("primary", "repository"),
}
"""For protocols with a disk of each member's own: a member, and the key of a value that has a version."""

SHARED: Mapping[str, tuple[str, str]] = {
    "artemis-shared-store": ("store", "server.lock/activation"),
    "artemis-scale-down": ("store-1", "server.lock/activation"),
    "fiorano-shared": ("database", "head"),
}
"""For those with a shared one: its name, and such a key."""


SIZES: Mapping[str, tuple[int, int]] = {"icestorm": (3, 3), "icestorm-topics": (1, 4)}
"""For those that do not have two replicas: how many replicas and clients there are here."""


def made(place: Path, protocol: str, port: int = 0) -> Folder:
    """The folder of a cluster that has not run yet."""
    folder = Folder(place / "cluster")
    replicas, clients = SIZES.get(protocol, (2, 3))
    folder.make(planned(folder, protocol, replicas, clients, {}, None, port))
    return folder


@contextmanager
def held(path: Path) -> Iterator[None]:
    """A lock file that this process holds, which is another one than any member."""
    file = hold(path, "a lock of the test's own")
    try:
        yield
    finally:
        os.close(file)


def newer_value(folder: Folder, protocol: str) -> None:
    """A value of a newer version of the protocol on the disk of a member."""
    member, key = OWN[protocol]
    database = Database(folder.disk(member), protocol)
    database.write(((key, NEWER),), True)
    database.close()


@pytest.mark.parametrize("protocol", names())
def test_every_member_that_must_not_start_is_named(tmp_path: Path, protocol: str) -> None:
    cluster = made(tmp_path, protocol).load()
    members = [member.name for member in cluster.members]
    first, locked, *_, damaged, newer, listening = members
    base = free_base(1 + len(members), set())
    port = base + 1 + members.index(listening)
    with socket.create_server(("127.0.0.1", port)):
        folder = made(tmp_path, protocol, base)
        if cluster.members[0].locks:
            folder.lock_file(cluster.members[0].locks[0]).mkdir()
        elif protocol in OWN:
            newer_value(folder, protocol)
        folder.disk(damaged).write_bytes(b"nonsense, and a lot of it" * 100)
        database = Database(folder.disk(newer), protocol)
        database._connection.execute("PRAGMA user_version=9")
        database.close()
        with held(folder.of(locked) / "lock"):
            lines = refused(folder, folder.load()).splitlines()
    told = dict(line.partition(": ")[::2] for line in lines)
    assert set(told) >= {locked, damaged, newer, listening}
    assert "is locked by another process" in told[locked]
    assert "data.sqlite is damaged" in told[damaged]
    assert "is in version 9, and this program reads 1: start the version that wrote it" in told[newer]
    assert told[listening].startswith(f"the port {port} of {listening} is taken")
    if cluster.members[0].locks:
        assert "is not writable: Is a directory" in told[first]
    elif protocol in OWN:
        assert "9" in told[first]
        assert "is of version 9, and this program reads version 1" in told[first]


def test_copy_of_a_newer_version_of_the_protocol_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path, "fiorano-replicated")
    newer_value(folder, "fiorano-replicated")
    (line,) = refused(folder, folder.load()).splitlines()
    assert line.startswith("primary: the repository is of version 9, and this program reads version 1")


@pytest.mark.parametrize("protocol", SHARED)
def test_shared_disk_of_a_newer_version_ends_whoever_activates(tmp_path: Path, protocol: str) -> None:
    folder = made(tmp_path, protocol)
    shared, key = SHARED[protocol]
    database = Database(folder.shared(shared), protocol)
    database.write(((key, NEWER),), True)
    database.close()
    with running(tmp_path, protocol, 2, 3) as cluster:

        def why() -> str:
            return " ".join(standing.why for standing in cluster.standings().values())

        until(lambda: "of version 9" in why(), "whoever activates says what is wrong")


@pytest.mark.parametrize("protocol", names())
def test_two_members_of_one_name_are_named(tmp_path: Path, protocol: str) -> None:
    folder = made(tmp_path, protocol)
    cluster = folder.load()
    first, *others = cluster.members
    store(folder.cluster, msgspec.structs.replace(cluster, members=(first, first, *others[1:])))
    with pytest.raises(Refused, match=f"two members with the name {first.name}: give each its own"):
        planned(folder, protocol, None, None, {}, None, 0)


@pytest.mark.parametrize("protocol", names())
def test_other_number_of_clients_is_no_other_cluster(tmp_path: Path, protocol: str) -> None:
    folder = made(tmp_path, protocol)
    clients = [member.name for member in folder.load().members if member.role == "client"]
    more = planned(folder, protocol, None, len(clients) + 1, {}, None, 0)
    assert [member.name for member in more.members if member.role == "client"][:-1] == clients
    assert planned(folder, protocol, None, None, {}, None, 0).members == folder.load().members
    with pytest.raises(Refused, match=r"has a cluster of other members|is 2 replicas, not 7|1, not 7"):
        planned(folder, protocol, 7, None, {}, None, 0)
