"""A proxy does what a network does when it is cut, slow or broken, and counts what has passed."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator

import pytest

from hacheck.testing import Proxy

PATIENCE = 10.0
"""Longer than anything takes; nothing waits that long where all is well."""


class Echo(socketserver.BaseRequestHandler):
    """Sends back what comes."""

    def handle(self) -> None:
        """Until its end."""
        while content := self.request.recv(4096):
            self.request.sendall(content)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """Before a server that echoes."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        with Proxy(server.server_address[1]) as made:
            yield made
        server.shutdown()


@pytest.fixture
def client(proxy: Proxy) -> Iterator[socket.socket]:
    """Connected through it."""
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as made:
        assert ask(made, b"hello") == b"hello"
        yield made


def ask(client: socket.socket, content: bytes) -> bytes:
    client.sendall(content)
    return receive(client, len(content))


def receive(client: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := client.recv(size - len(found))):
        found += more
    return found


def until(seen: int, proxy: Proxy, way: str) -> None:
    """Waits until so many bytes wait in one direction."""
    end = time.monotonic() + PATIENCE
    while getattr(proxy, way).waiting < seen:
        assert time.monotonic() < end
        time.sleep(0.002)


def silent(client: socket.socket) -> bool:
    """Whether nothing comes."""
    client.settimeout(0.05)
    try:
        return not client.recv(1)
    except TimeoutError:
        return True
    finally:
        client.settimeout(PATIENCE)


def test_what_is_sent_passes_and_is_counted(proxy: Proxy, client: socket.socket) -> None:
    assert ask(client, b"x" * 100_000) == b"x" * 100_000
    assert proxy.connections == 1
    assert (proxy.to_server.passed, proxy.to_client.passed) == (100_005, 100_005)


@pytest.mark.parametrize("direction", ["both", "to_server", "to_client"])
def test_what_is_sent_while_it_is_cut_waits_and_passes_when_it_is_healed(
    proxy: Proxy, client: socket.socket, direction: str
) -> None:
    proxy.cut(direction)  # type: ignore[arg-type]
    client.sendall(b"later")
    until(5, proxy, "to_client" if direction == "to_client" else "to_server")
    assert silent(client)
    assert proxy.to_server.passed == (10 if direction == "to_client" else 5), "in one direction it still passes"
    proxy.heal()
    assert receive(client, 5) == b"later"


def test_a_connection_that_is_made_while_it_is_cut_gets_no_answer(proxy: Proxy) -> None:
    proxy.cut()
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as late:
        late.sendall(b"late")
        assert silent(late)
        proxy.heal()
        assert receive(late, 4) == b"late"


def test_a_delay_keeps_the_order(proxy: Proxy, client: socket.socket) -> None:
    proxy.delay(0.05, "to_client")
    begun = time.monotonic()
    assert ask(client, b"a") + ask(client, b"b") == b"ab"
    assert time.monotonic() - begun >= 0.1


def test_a_slow_drip_passes_byte_by_byte(proxy: Proxy, client: socket.socket) -> None:
    proxy.drip(100, "to_client")
    begun = time.monotonic()
    assert ask(client, b"slowly") == b"slowly"
    assert time.monotonic() - begun >= 0.05


def test_a_reset_breaks_what_is_connected_and_says_how_many(proxy: Proxy, client: socket.socket) -> None:
    assert proxy.reset() == 1
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as anew:
        assert ask(anew, b"again") == b"again"


def test_an_end_in_order_passes(proxy: Proxy, client: socket.socket) -> None:
    client.shutdown(socket.SHUT_WR)
    assert client.recv(1) == b""


def test_who_connects_to_nobody_is_reset() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Proxy(port) as proxy:
        with (
            pytest.raises(ConnectionResetError),
            socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as client,
        ):
            client.recv(1)
        assert proxy.refused == 1


def test_a_direction_that_there_is_not_is_refused(proxy: Proxy) -> None:
    with pytest.raises(ValueError, match="direction 'sideways': it is both, to_server or to_client"):
        proxy.cut("sideways")  # type: ignore[arg-type]
