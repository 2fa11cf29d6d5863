"""The folder of a cluster: what it is, who takes part, and where each has its disk.

    cluster.json          the system, its settings and its members
    lock                  held by the keeper while the cluster runs
    keeper.json           its process and port; keeper.log
    <member>/             data.sqlite, lock (held while the member runs), process.json, output.log
    shared/<name>/        data.sqlite, for the members that reach that disk
    locks/<name>.lock     what members lock
    cuts/<one>-to-<host>  marks: what one sends to the host of a lock or shared disk does not arrive, and the reverse

**Source**: none; the layout is the runtime's own.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hacheck.impl.node import Name
from hacheck.impl.system import Member, Refused

T = TypeVar("T")
VERSION = 1
KEEPER = "@keeper"
"""The name under which the keeper is spoken to; no member can have it."""


class Cluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a cluster is. `token`: its own secret, so that no stranger's process is taken for a member. `record`: where
    members write their logs, or nothing. `port`: the first of fixed ports, the keeper's; 0: any that are free."""

    version: int
    system: str
    settings: dict[str, str]
    members: tuple[Member, ...]
    token: str
    record: str = ""
    port: int = 0

    def member(self, name: Name) -> Member:
        """A member. Errors: `Refused`."""
        for member in self.members:
            if member.name == name:
                return member
        raise Refused(f"no member `{name}`: there are {', '.join(member.name for member in self.members)}")

    def hosts(self, name: Name = "") -> tuple[Name, ...]:
        """The hosts of the locks and shared disks of a member, or of all."""
        members = (self.member(name),) if name else self.members
        return tuple(dict.fromkeys(host for member in members for host in (*member.locks, *member.shared)))

    def port_of(self, name: Name) -> int:
        """The port on which a member is to listen; 0: any that is free."""
        if not self.port:
            return 0
        return self.port + 1 + [member.name for member in self.members].index(name)


class Address(msgspec.Struct, frozen=True):
    """The keeper as it can be found: its process, and its port."""

    pid: int
    started: str
    port: int


class Folder:
    """Where everything of a cluster is."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.cluster = place / "cluster.json"
        self.lock = place / "lock"
        self.keeper = place / "keeper.json"
        self.keeper_log = place / "keeper.log"

    def of(self, member: Name) -> Path:
        """The folder of a member."""
        return self.place / member

    def disk(self, member: Name) -> Path:
        """The database of a member."""
        return self.of(member) / "data.sqlite"

    def process(self, member: Name) -> Path:
        """Which process a member is."""
        return self.of(member) / "process.json"

    def output(self, member: Name) -> Path:
        """What a member prints."""
        return self.of(member) / "output.log"

    def shared(self, name: Name) -> Path:
        """The database of a shared disk."""
        return self.place / "shared" / name / "data.sqlite"

    def lock_file(self, name: Name) -> Path:
        """The file of a lock."""
        return self.place / "locks" / f"{name}.lock"

    @property
    def cuts(self) -> Path:
        """Where the marks of cuts are."""
        return self.place / "cuts"

    def cut_mark(self, one: Name, other: Name) -> Path:
        """The file that is there while nothing gets from one to the other, of which one is a host."""
        return self.cuts / f"{one}-to-{other}"

    def exists(self) -> bool:
        """Whether there is a cluster in this folder."""
        return self.cluster.exists()

    def load(self) -> Cluster:
        """What the cluster is. Errors: `Refused`, for none, one of a newer version, damage, or two of one name."""
        try:
            content = self.cluster.read_bytes()
        except FileNotFoundError:
            raise Refused(
                f"there is no cluster in {self.place}: start one with `hacheck cluster start`, or give its --dir"
            ) from None
        except OSError as error:
            raise Refused(f"{self.cluster} cannot be read: {error.strerror}") from None
        try:
            version = msgspec.json.decode(content, type=dict[str, Any]).get("version")
            if version != VERSION:
                raise Refused(f"{self.cluster} is in version {version}, and this program reads {VERSION}")
            cluster = msgspec.json.decode(content, type=Cluster)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused(f"{self.cluster} is damaged: {error}") from None
        names = [member.name for member in cluster.members]
        for name in names:
            if names.count(name) > 1:
                raise Refused(f"{self.cluster} has two members with the name {name}: give each its own")
        return cluster

    def make(self, cluster: Cluster) -> None:
        """Makes the folders, and writes what the cluster is; git ignores a folder that is made here.

        Errors: `Refused`, where that cannot be written."""
        try:
            if not self.place.exists():
                self.place.mkdir(parents=True)
                (self.place / ".gitignore").write_text("*\n", encoding="utf-8")
            for member in cluster.members:
                self.of(member.name).mkdir(parents=True, exist_ok=True)
                for shared in member.shared:
                    self.shared(shared).parent.mkdir(parents=True, exist_ok=True)
                if member.locks:
                    (self.place / "locks").mkdir(exist_ok=True)
            self.cuts.mkdir(exist_ok=True)
            store(self.cluster, cluster)
        except OSError as error:
            raise Refused(f"{error.filename} cannot be written: {error.strerror}") from None


def token() -> str:
    """A secret for a new cluster."""
    return secrets.token_hex(16)


def store(path: Path, value: object) -> None:
    """Writes a value, which is there as a whole or not at all, for its owner's eyes only."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    os.replace(unfinished, path)


def fetch(path: Path, kind: type[T]) -> T | None:
    """A value that `store` has written; `None` where there is none, or it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def hold(path: Path, what: str) -> int:
    """Holds a lock file for as long as this process lives, and leaves its number in it. Errors: `Refused`, if another
    process holds it, or it cannot be written."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.pread(file, 32, 0).decode(errors="replace").strip()
        os.close(file)
        raise Refused(f"{what} is locked by another process ({owner or 'unknown'}): end that first") from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
    return file
