"""What clients of Artemis have in common: how a session is kept, and what is done when its broker is gone."""

from __future__ import annotations

from hacheck.impl.kit import client
from hacheck.impl.node import Message
from hacheck.impl.protocols.artemis.messages import SessionPing
from hacheck.impl.protocols.artemis.process import Process


class SessionClient(client.Client[Process]):
    """A client. Each kind says what it does when its broker is gone (`_lost`), and when the one that it tries does not
    take it (`_try_next`)."""

    def _sign_of_life(self) -> Message:
        return SessionPing(self.session)

    def _gone(self) -> None:
        if self.connected:
            self._lost()
        else:
            self._try_next()

    def _lost(self) -> None:
        raise NotImplementedError

    def _try_next(self) -> None:
        raise NotImplementedError
