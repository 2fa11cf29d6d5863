"""The lease service as a program in Perl, against the model of `../lease`. Run `pytest examples/any_language`."""

from __future__ import annotations

from hacheck.testing import ProcessAdapter, state_machine


class Server(ProcessAdapter):
    """Two workers, and a clock that goes as far as the test says."""

    spec = "../lease/lease.ha"
    command = ("perl", "server.pl")
    drives = ("pause", "resume")
    waits = (0.5, 3.0, 12.0)


TestServer = state_machine(Server)
