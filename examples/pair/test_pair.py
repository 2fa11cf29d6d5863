from pair import HEARTBEAT_SECONDS, Server, Witness

from hacheck.testing import Adapter, Event, state_machine


class PairService(Adapter):
    spec = "pair.ha"
    waits = (10.0,)

    def start(self):
        self._now, self._shown, self._cut = 0.0, [], set()
        self._witness, self._servers = Witness(), {}
        for name in ("Server-1", "Server-2"):
            self._begin(name)

    def crash(self, n):
        del self._servers[n]

    def restart(self, s):
        self._begin(s)
        self._shown.append(Event(s, "started", {}))

    def cut(self, a, b):
        self._cut |= {(a, b), (b, a)}

    def heal(self, a, b):
        self._cut -= {(a, b), (b, a)}

    def wait(self, seconds):
        until = self._now + seconds
        while self._now < until:
            self._now += HEARTBEAT_SECONDS
            for name, server in list(self._servers.items()):
                line = server.tick(self._now)
                if line is not None:
                    self._shown.append(Event(name, line, {}))

    def events(self):
        shown, self._shown = self._shown, []
        return shown

    def _begin(self, name):
        self._servers[name] = Server(name, self._now, self._send, self._ask)

    def _send(self, name):
        for other, server in self._servers.items():
            if other != name and (name, other) not in self._cut:
                server.heartbeat(self._now)

    def _ask(self, name):
        if (name, "Witness-1") in self._cut:
            return None
        return self._witness.ask(name, self._now)


TestPair = state_machine(PairService)
