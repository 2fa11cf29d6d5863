"""The keeper of a cluster: `python -m hacheck.impl.runtime.keeper FOLDER PARENT`.

It starts the members as its children, is the network between them, and does what `hacheck cluster` asks for. A member
that ends itself is started again a second later; one that was killed stays down until somebody wants it back. Members
end with their keeper, whatever it ends of; with a PARENT other than 0 the keeper ends with that.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from hacheck.impl.node import Name
from hacheck.impl.recording import SUFFIX, merged
from hacheck.impl.runtime import pids
from hacheck.impl.runtime.children import DOWN, Child
from hacheck.impl.runtime.disk import Database
from hacheck.impl.runtime.folder import KEEPER, Address, Cluster, Folder, hold, store
from hacheck.impl.runtime.frames import frame
from hacheck.impl.runtime.process import Report, send_report
from hacheck.impl.runtime.relays import Network
from hacheck.impl.system import Refused


class Ask(msgspec.Struct, frozen=True, tag=True):
    """What a keeper is to do. `names`: members; to be cut off or healed, hosts of locks and shared disks, too.
    `others`: for `cut`, whom to cut them off from; none: all whom they reach. `one_way`: only what `names` send is
    held back."""

    action: str
    names: tuple[Name, ...] = ()
    others: tuple[Name, ...] = ()
    one_way: bool = False


class Standing(msgspec.Struct, frozen=True):
    """How a member stands. `state`: `running`, `paused` or `down`. `why`: what it ended of."""

    name: Name
    role: str
    state: str
    pid: int
    incarnation: int
    port: int
    why: str = ""


class Answer(msgspec.Struct, frozen=True, tag=True):
    """What came of it: what is wrong, or nothing; then how all stand, and which directions are cut."""

    wrong: str
    members: tuple[Standing, ...] = ()
    cuts: tuple[tuple[Name, Name], ...] = ()


class Keeper:
    """`finished`: set when the cluster is to end."""

    def __init__(self, folder: Folder, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster
        self.finished = asyncio.Event()
        self.network = Network(KEEPER, cluster.token, cluster.system, self._on_request)
        self.children: dict[Name, Child] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Starts everybody. Errors: `Refused`, with every reason there is; then nobody runs."""
        self._mark()
        for name in sorted({name for member in self.cluster.members for name in member.shared}):
            Database(self.folder.shared(name), self.cluster.system).close()
        try:
            port = await self.network.listen(self.cluster.port)
        except OSError as error:
            raise Refused(f"the port {self.cluster.port} is taken, or not allowed: {error.strerror}") from None
        own = pids.of(os.getpid())
        for member in self.cluster.members:
            child = Child(member.name, self.folder, port, self.network)
            self.children[member.name] = child
        refusals = await asyncio.gather(*(child.start() for child in self.children.values()))
        if any(refusals):
            await self.end()
            raise Refused("\n".join(refusal for refusal in refusals if refusal))
        store(self.folder.keeper, Address(own.pid, own.started, port))

    async def end(self) -> None:
        """Ends everybody, and puts the logs of the run together."""
        await asyncio.gather(*(child.end() for child in self.children.values()))
        self.folder.keeper.unlink(missing_ok=True)
        if self.cluster.record:
            place = Path(self.cluster.record)
            merged(place, f"{self.cluster.system}-{self.cluster.token[:8]}", place / f"cluster{SUFFIX}")

    # ---- requests ----

    def _on_request(self, transport: asyncio.Transport, content: bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(transport, content))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, transport: asyncio.Transport, content: bytes) -> None:
        try:
            ask = msgspec.msgpack.decode(content, type=Ask)
            wrong = await self._do(ask)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            wrong = f"no request: {error}"
        except Refused as refused:
            wrong = str(refused)
        cuts = tuple(sorted(self.network.cuts))
        transport.write(frame(Answer(wrong, tuple(self._standings()), cuts)))

    def _standings(self) -> Iterator[Standing]:
        for member in self.cluster.members:
            child = self.children[member.name]
            port = 0 if child.state == DOWN else self.network.ports.get(member.name, 0)
            yield Standing(member.name, member.role, child.state, child.pid, child.incarnation, port, child.why)

    async def _do(self, ask: Ask) -> str:
        if ask.action in ("cut", "heal"):
            return self._cut(ask) if ask.action == "cut" else self._heal(ask)
        children = [self.children[self.cluster.member(name).name] for name in ask.names]
        match ask.action:
            case "status":
                return ""
            case "stop-all":
                self.finished.set()
                return ""
            case "kill":
                return await _each(children, Child.kill)
            case "stop":
                return await _each(children, Child.pause)
            case "cont":
                return await _each(children, Child.resume)
            case "restart":
                return await _each(children, Child.restart)
        return f"no action `{ask.action}`"

    def _cut(self, ask: Ask) -> str:
        links = self._links()
        here, there = self._known(ask.names), self._known(ask.others)
        cuts = {link for link in links if link[0] in here and (link[1] in there if there else link[1] not in here)}
        if not cuts:
            return f"nothing goes between {', '.join(ask.names)} and {', '.join(ask.others) or 'the others'}"
        self.network.cuts |= cuts
        if not ask.one_way:
            self.network.cuts |= {(other, one) for one, other in cuts}
        self._mark()
        return ""

    def _heal(self, ask: Ask) -> str:
        names = self._known(ask.names)
        self.network.cuts = {cut for cut in self.network.cuts if names and not names & set(cut)}
        self._mark()
        return ""

    def _known(self, names: tuple[Name, ...]) -> set[Name]:
        """These members and hosts. Errors: `Refused`."""
        hosts = self.cluster.hosts()
        for name in names:
            if name not in hosts and name not in self.children:
                more = f"; locks and shared disks are at {', '.join(hosts)}" if hosts else ""
                raise Refused(f"no member `{name}`: there are {', '.join(self.children)}{more}")
        return set(names)

    def _links(self) -> set[tuple[Name, Name]]:
        """All directions there are: between members, and between members and the hosts that they reach."""
        links = {(one, other) for one in self.children for other in self.children if one != other}
        for name in self.children:
            for host in self.cluster.hosts(name):
                links |= {(name, host), (host, name)}
        return links

    def _mark(self) -> None:
        """Makes the cuts so: those of links to hosts by their marks."""
        hosts = self.cluster.hosts()
        wanted = {self.folder.cut_mark(*cut) for cut in self.network.cuts if cut[0] in hosts or cut[1] in hosts}
        for mark in wanted:
            mark.touch()
        for mark in set(self.folder.cuts.iterdir()) - wanted:
            mark.unlink()
        self.network.changed()


async def _each(children: list[Child], act: object) -> str:
    wrongs = []
    for child in children:
        assert callable(act)
        wrongs.append(await act(child))
    return "\n".join(wrong for wrong in wrongs if wrong)


async def _run(folder: Folder, with_caller: bool) -> int:
    cluster = folder.load()
    hold(folder.lock, f"the cluster in {folder.place}")
    keeper = Keeper(folder, cluster)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, keeper.finished.set)
    if with_caller:
        loop.add_reader(0, partial(_heard, keeper))
    await keeper.start()
    send_report(Report("ready"))
    await keeper.finished.wait()
    await keeper.end()
    return 0


def _heard(keeper: Keeper) -> None:
    """Standard input never says anything: when it ends, so has the one that started this."""
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        keeper.finished.set()


def main(words: list[str]) -> int:
    """Keeps one cluster. Returns the exit code."""
    place, parent = words
    if parent != "0":
        pids.end_with_parent(int(parent))
    try:
        return asyncio.run(_run(Folder(Path(place)), parent != "0"))
    except Refused as refused:
        send_report(Report("refused", str(refused)))
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
