"""An event loop in a thread: what it starts ends with it, and its errors reach the caller."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from hacheck.supervise.event_loop_thread import LOOPBACK, EventLoopThread, reset

SECONDS_MAX = 5


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while content := await reader.read(100):
        writer.write(content)


def listening(thread: EventLoopThread) -> int:
    port: int = thread.run(thread.listen(echo)).sockets[0].getsockname()[1]
    return port


def test_closing_breaks_connections_and_listens_no_more() -> None:
    thread = EventLoopThread()
    port = listening(thread)
    with socket.create_connection((LOOPBACK, port), SECONDS_MAX) as client:
        client.sendall(b"ping")
        assert client.recv(100) == b"ping"
        thread.close()
        assert client.recv(100) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, port), SECONDS_MAX)


def test_a_connection_is_broken_though_its_task_was_cancelled_before_it_began() -> None:
    thread = EventLoopThread()
    ours, theirs = socket.socketpair()
    begun = []

    async def relay() -> None:
        begun.append(True)

    async def adopt() -> None:
        _, writer = await asyncio.open_connection(sock=theirs)
        thread.start(relay(), writer)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    thread.run(adopt())
    with ours:
        ours.settimeout(SECONDS_MAX)
        assert ours.recv(1) == b""
    assert not begun
    thread.close()


def test_a_task_that_starts_another_while_it_is_cancelled_ends_too() -> None:
    thread = EventLoopThread()
    cancelled = []

    async def wait(follower: bool) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(follower)
            if not follower:
                thread.start(wait(True))
                await asyncio.sleep(0)

    thread.call(lambda: thread.start(wait(False)))
    thread.call(lambda: None)  # it waits now
    thread.close()
    assert cancelled == [False, True]


def test_a_port_that_is_taken_is_an_error_of_the_caller() -> None:
    thread = EventLoopThread()
    port = listening(thread)
    with pytest.raises(OSError, match="in use"):
        thread.run(thread.listen(echo, port))
    thread.close()


def test_what_is_posted_after_the_end_is_not_called() -> None:
    thread = EventLoopThread()
    called = threading.Event()
    thread.close()
    thread.post(called.set)
    thread.close()
    assert not called.is_set()


def test_a_reset_is_seen_as_one() -> None:
    thread = EventLoopThread()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset(writer)

    port = thread.run(thread.listen(refuse)).sockets[0].getsockname()[1]
    with socket.create_connection((LOOPBACK, port), SECONDS_MAX) as client:
        client.sendall(b"x")
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    thread.close()
