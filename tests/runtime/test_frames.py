"""What is on the wire: frames survive any cutting, and what is none is noticed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.impl.runtime.frames import (
    FRAME_BYTES_MAX,
    Damaged,
    Frames,
    Hello,
    frame,
    messages_of,
    objection,
    read_hello,
    read_message,
)
from tests.simulation.toys import COUNTERS, Add, Added

HELLO = Hello(1, "secret", "toy", "a", "b")


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.integers(1, 30), max_size=20))
def test_frames_are_whole_however_the_stream_is_cut(contents: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(content) for content in contents)
    frames, found, place = Frames(), [], 0
    for cut in [*cuts, len(stream)]:
        found.extend(frames.feed(stream[place : place + cut]))
        place += cut
    assert [msgspec.msgpack.decode(content) for content in found] == contents


def test_frame_that_is_too_long_is_refused_before_it_has_come() -> None:
    with pytest.raises(Damaged, match="are the most"):
        list(Frames().feed((FRAME_BYTES_MAX + 1).to_bytes(4, "big")))


def test_messages_are_told_apart_by_their_names() -> None:
    decoder = messages_of(COUNTERS)
    for message in (Add(3), Added(3)):
        assert read_message(decoder, frame(message)[4:]) == message
    with pytest.raises(Damaged, match="no message of this system"):
        read_message(decoder, frame({"type": "Multiply", "number": 3})[4:])


def test_hello_of_another_version_is_named_as_such() -> None:
    assert read_hello(frame(HELLO)[4:]) == HELLO
    with pytest.raises(Damaged, match="version 2, where this program speaks 1"):
        read_hello(frame({"type": "Hello", "version": 2, "who": "a"})[4:])
    with pytest.raises(Damaged, match="no hello"):
        read_hello(b"\xc1")
    with pytest.raises(Damaged, match="no hello"):
        read_hello(frame(HELLO)[4:].replace(HELLO.token.encode(), b"\xff" * len(HELLO.token)))


@pytest.mark.parametrize(
    ("token", "system", "name", "wrong"),
    [
        ("secret", "toy", "b", ""),
        ("other", "toy", "b", "you belong to another cluster"),
        ("secret", "toys", "b", "you speak toy, and this is toys"),
        ("secret", "toy", "c", "you want b, and this is c"),
    ],
)
def test_hello_is_for_one_process_of_one_cluster(token: str, system: str, name: str, wrong: str) -> None:
    assert objection(HELLO, token, system, name) == wrong
