"""Proxies: nothing overtakes a message that keeps its place, and a proxy can listen only while its process does."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from hacheck.replay.processes import free_base, is_free
from hacheck.replay.relayed_connection import Heard
from hacheck.replay.tcp_proxies import TcpProxies, listening, owner_of
from hacheck.replay.traffic import Message, Traffic

SECONDS_MAX = 10.0
LINUX = os.path.exists("/proc/net/tcp")
pytestmark = pytest.mark.skipif(not LINUX, reason="who calls whom is read from /proc")


class Letters:
    """A protocol of single letters: `h` and `k` are messages, behind `k` nothing overtakes; others mean nothing."""

    greetings = 0
    unanswered = 0
    keeps_order = frozenset({"k"})

    def length(self, begin: bytes) -> int | None:
        return 1 if begin else None

    def read(self, raw: bytes, *, to_server: bool) -> Heard | None:
        letter = raw.decode()
        return Heard("request", letter, 0, "") if letter in "hk" and to_server else None


class Sink:
    """A server that keeps what it is sent."""

    def __init__(self, port: int) -> None:
        self.received = b""
        self._socket = socket.create_server(("127.0.0.1", port))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with self._socket:
            connection, _ = self._socket.accept()
            connection.settimeout(SECONDS_MAX)
        with connection:
            while more := connection.recv(100):
                self.received += more

    def end(self, client: socket.socket) -> None:
        """When its client has gone."""
        client.close()
        self._thread.join(SECONDS_MAX)


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


@pytest.fixture
def ports() -> tuple[int, int]:
    base = free_base(2, set())
    return base, base + 1


@pytest.fixture
def traffic() -> Traffic:
    return Traffic(lambda message: True, lambda message: None)


@pytest.fixture
def proxies(ports: tuple[int, int], traffic: Traffic) -> Iterator[TcpProxies]:
    made = TcpProxies(traffic, {1: ports}, dict, Letters, follow=True)
    yield made
    made.close()


def held(traffic: Traffic) -> str:
    return "".join(one.operation for one in traffic.held())


def test_nothing_overtakes_a_message_that_keeps_its_place(
    ports: tuple[int, int], traffic: Traffic, proxies: TcpProxies
) -> None:
    sink = Sink(ports[1])
    until(lambda: ports[0] in listening())
    client = socket.create_connection(("127.0.0.1", ports[0]))
    client.sendall(b"1h2k3h4")
    until(lambda: held(traffic) == "hkh" and sink.received == b"12")
    first, keeps, last = traffic.held()
    traffic.let(last)
    traffic.let(first)
    until(lambda: sink.received == b"12h")
    traffic.let(keeps)
    until(lambda: sink.received == b"12hk3h4")
    sink.end(client)


def test_dropped_message_keeps_nothing_back(ports: tuple[int, int], traffic: Traffic, proxies: TcpProxies) -> None:
    sink = Sink(ports[1])
    until(lambda: ports[0] in listening())
    client = socket.create_connection(("127.0.0.1", ports[0]))
    client.sendall(b"k1")
    until(lambda: held(traffic) == "k")
    traffic.let(traffic.held()[0], drop=True)
    until(lambda: sink.received == b"1")
    sink.end(client)


def test_proxy_listens_while_its_process_does(ports: tuple[int, int], proxies: TcpProxies) -> None:
    assert is_free(ports[0])
    server = socket.create_server(("127.0.0.1", ports[1]))
    until(lambda: ports[0] in listening())
    proxies.shut(1)
    assert ports[0] not in listening()
    time.sleep(0.2)  # it does not come back while the same process listens
    assert ports[0] not in listening()
    server.close()
    until(lambda: ports[1] not in listening())
    time.sleep(0.1)
    with socket.create_server(("127.0.0.1", ports[1])):
        until(lambda: ports[0] in listening())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_owner_of_a_connection_is_found_whatever_its_family(
    family: socket.AddressFamily, ports: tuple[int, int]
) -> None:
    with socket.create_server(("127.0.0.1", ports[1])), socket.socket(family) as client:
        try:
            client.connect(("127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1", ports[1]))
        except OSError:
            pytest.skip("no IPv6 here")
        assert owner_of(client.getsockname()[1], {7: os.getpid()}) == 7
        assert owner_of(client.getsockname()[1], {}) == 0


def test_owner_is_found_where_an_ended_connection_had_the_same_port(ports: tuple[int, int]) -> None:
    def connect(own: int, target: int) -> socket.socket:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        client.bind(("127.0.0.1", own))
        client.connect(("127.0.0.1", target))
        return client

    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        for first, second in ((one, other), (other, one)):  # whichever of the two the kernel's table has first
            with connect(0, first.getsockname()[1]) as ended:
                own = ended.getsockname()[1]
            first.accept()[0].close()
            with connect(own, second.getsockname()[1]):
                assert owner_of(own, {7: os.getpid()}) == 7


def test_message_that_is_let_twice_is_sent_once(ports: tuple[int, int], traffic: Traffic, proxies: TcpProxies) -> None:
    sink = Sink(ports[1])
    until(lambda: ports[0] in listening())
    client = socket.create_connection(("127.0.0.1", ports[0]))
    client.sendall(b"h")
    until(lambda: held(traffic) == "h")
    message: Message = traffic.held()[0]
    traffic.let(message)
    traffic.let(message)
    client.sendall(b"1")
    until(lambda: sink.received == b"h1")
    sink.end(client)
