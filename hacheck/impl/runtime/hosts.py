"""The ways of one process to the hosts of its locks and shared disks, which the keeper can cut.

Locks and shared disks are files, so nothing of theirs goes through the network between members. A cut of such a link
is a mark: a file that is there for as long as the cut lasts. Every request looks for it, so a cut holds at once, also
for a process that was paused meanwhile or is started later.

A request that cannot get there is known not to have been done, and fails after a second. An answer that cannot come
back waits until the cut heals; so does a lock's being given back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

from hacheck.impl.node import Input, Name
from hacheck.impl.runtime.folder import Folder
from hacheck.impl.system import Member

ANSWER_SECONDS = 1.0
"""After so long a request to a host out of reach has failed."""

LOOKED_AT_SECONDS = 0.05
"""So often it is seen whether a cut has healed."""


class HostLink:
    """One direction between a member and a host. `waiting`: what is done when it is open again, the oldest first."""

    __slots__ = ("_mark", "waiting")

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self.waiting: deque[Callable[[], None]] = deque()

    @property
    def is_cut(self) -> bool:
        """Whether nothing gets through."""
        return self._mark.exists()


class Hosts:
    """The links of one member to hosts. `give`: takes inputs for the node. To be used in the thread of the event
    loop."""

    def __init__(self, folder: Folder, member: Member, give: Callable[[Input], None]) -> None:
        self._give = give
        self._loop = asyncio.get_running_loop()
        names = (*member.locks, *member.shared)
        self._there = {host: HostLink(folder.cut_mark(member.name, host)) for host in names}
        self._back = {host: HostLink(folder.cut_mark(host, member.name)) for host in names}

    def reached(self, host: Name) -> bool:
        """Whether requests get there now."""
        return not self._there[host].is_cut

    def fail(self, failed: Input) -> None:
        """A request did not get there: the node hears of it after a while."""
        self._loop.call_later(ANSWER_SECONDS, self._give, failed)

    def answer(self, host: Name, given: Input) -> None:
        """An answer of a host, after all that it has answered before."""
        self._when_open(self._back[host], lambda: self._give(given))

    def request(self, host: Name, done: Callable[[], None]) -> None:
        """Something of which nobody awaits an answer: done at once, or when it gets there."""
        self._when_open(self._there[host], done)

    def _when_open(self, link: HostLink, done: Callable[[], None]) -> None:
        if not link.waiting and not link.is_cut:
            done()
            return
        link.waiting.append(done)
        if len(link.waiting) == 1:
            self._loop.call_later(LOOKED_AT_SECONDS, self._look, link)

    def arrive(self, host: Name) -> None:
        """What waits to get to a host does, if it can: to be called before a later request."""
        self._drain(self._there[host])

    def _look(self, link: HostLink) -> None:
        self._drain(link)
        if link.waiting:
            self._loop.call_later(LOOKED_AT_SECONDS, self._look, link)

    def _drain(self, link: HostLink) -> None:
        while link.waiting and not link.is_cut:
            link.waiting.popleft()()
