"""A subscriber for `hacheck admin subscribe`: connected to every replica, for any of them may deliver."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered
from hacheck.impl.runtime.control import Guest, Line, Silent
from hacheck.impl.system import Refused

CONNECT_SECONDS_MAX = 2.0
AGAIN_SECONDS = 0.3


class Listener:
    """Keeps a connection to each replica, and makes it anew when it breaks. To be used in a `with`.

    A guest has one connection to each process. So a listener asks for nothing under the same name.
    """

    def __init__(self, guest: Guest, replicas: list[Name]) -> None:
        self._guest, self._replicas = guest, replicas
        self._come: SimpleQueue[Deliver] = SimpleQueue()
        self._over = threading.Event()
        self._first = {replica: threading.Event() for replica in replicas}

    def __enter__(self) -> Listener:
        for replica in self._replicas:
            threading.Thread(target=self._listen, args=(replica,), daemon=True).start()
        for tried in self._first.values():
            tried.wait(CONNECT_SECONDS_MAX)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def messages(self) -> Iterator[Deliver]:
        """What arrives, without end."""
        while True:
            yield self._come.get()

    def _listen(self, replica: Name) -> None:
        while not self._over.is_set():
            try:
                port = self._guest.ports()[replica]
                with self._guest.line(replica, port, CONNECT_SECONDS_MAX) as line:
                    self._first[replica].set()
                    self._hear(line)
            except (Silent, Refused):
                self._first[replica].set()
                time.sleep(AGAIN_SECONDS)

    def _hear(self, line: Line) -> None:
        while not self._over.is_set():
            message = self._guest.read(line.receive(None))
            assert isinstance(message, Deliver), "a subscriber that sends no requests gets nothing else"
            if message.call:
                line.send(Delivered(message.call, True))
            self._come.put(message)
