"""A process of Qpid: its connections.

A connection is a stream: each end numbers what it says. A frame that comes twice is dropped, one that comes early waits
for those before it; when a heartbeat has shown frames that are still missing one heartbeat later, they are lost, and
the connection is closed, as TCP would close it. Nothing is said twice on a connection: the one that opens a new one
begins anew. Each end gives up when it has heard nothing for two heartbeats."""

from __future__ import annotations

from hacheck.impl.kit import process as kit
from hacheck.impl.node import Name, Setup
from hacheck.impl.protocols.qpid.messages import Body, Closed, Frame, Heartbeat, Open
from hacheck.impl.protocols.qpid.objects import Info

HEARTBEAT = "heartbeat"


class Channel:
    """One end of a connection. `sent`, `delivered`: how many frames went out and came in, in order. `held`: frames
    that came early. `claimed`, `owed`: how many the other end said it had sent, now and one heartbeat ago."""

    __slots__ = (
        "about", "claimed", "connection", "delivered", "heard_us", "held", "is_open", "is_up", "owed", "peer",
        "purpose", "sent",
    )  # fmt: skip

    def __init__(self, connection: str, peer: Name, purpose: str, about: Info | None, now_us: int) -> None:
        self.connection = connection
        self.peer = peer
        self.purpose = purpose
        self.about = about
        self.is_open = True
        self.is_up = False
        self.sent = 0
        self.delivered = 0
        self.held: dict[int, Body] = {}
        self.claimed = 0
        self.owed = 0
        self.heard_us = now_us


class Process(kit.Process[str]):
    """A process with its connections, by name."""

    __slots__ = ("_heartbeat_us", "channels")

    def __init__(self, setup: Setup, heartbeat_us: int) -> None:
        super().__init__(setup)
        self.channels: dict[str, Channel] = {}
        self._heartbeat_us = heartbeat_us

    # ---- connections ------------------------------------------------------------------------------------------------

    def connect(self, peer: Name, purpose: str, about: Info | None = None) -> Channel:
        """Ask a process for a connection."""
        channel = Channel(self.fresh(), peer, purpose, about, self.now_us)
        self.channels[channel.connection] = channel
        self.send(peer, Open(channel.connection, purpose, about))
        return channel

    def accept(self, peer: Name, opening: Open) -> Channel:
        """Take a connection that was requested."""
        channel = Channel(opening.connection, peer, opening.purpose, opening.about, self.now_us)
        channel.is_up = True
        self.channels[opening.connection] = channel
        return channel

    def say(self, channel: Channel, body: Body) -> None:
        """Say something on a connection; on one that is closed, nobody hears it."""
        if channel.is_open:
            channel.sent += 1
            self.send(channel.peer, Frame(channel.connection, channel.sent, body))

    def close(self, channel: Channel, reason: str, fatal: bool = False) -> None:
        """End a connection, and notify the other end."""
        if self.forget(channel):
            self.send(channel.peer, Closed(channel.connection, reason, fatal))

    def forget(self, channel: Channel) -> bool:
        """A connection is no longer there. False: it was not there any more."""
        channel.is_open = False
        return self.channels.pop(channel.connection, None) is not None

    def heard(self, sender: Name, frame: Frame) -> tuple[Channel | None, list[Body]]:
        """What a frame brings, in order: itself, those that waited for it, or nothing yet."""
        channel = self.channels.get(frame.connection)
        if channel is None or channel.peer != sender:
            self.send(sender, Closed(frame.connection, "no such connection"))
            return None, []
        channel.heard_us = self.now_us
        number = frame.number
        if number != channel.delivered + 1:
            if number > channel.delivered:
                channel.held[number] = frame.body
            return channel, []
        channel.delivered = number
        if not channel.held:
            return channel, [frame.body]
        bodies = [frame.body]
        while (following := channel.held.pop(channel.delivered + 1, None)) is not None:
            channel.delivered += 1
            bodies.append(following)
        return channel, bodies

    def heartbeat(self, sender: Name, beat: Heartbeat) -> None:
        """The other end is there."""
        channel = self.channels.get(beat.connection)
        if channel is None or channel.peer != sender:
            self.send(sender, Closed(beat.connection, "no such connection"))
            return
        channel.heard_us = self.now_us
        channel.claimed = max(channel.claimed, beat.sent)

    def start_heartbeats(self) -> None:
        """To be called once, at the start."""
        self.set_timer(HEARTBEAT, self._heartbeat_us)

    def beat(self) -> list[Channel]:
        """Time to say that we are there. The connections that are to be given up: silent, or with a gap."""
        self.set_timer(HEARTBEAT, self._heartbeat_us)
        dead = []
        for channel in self.channels.values():
            if self.now_us - channel.heard_us > 2 * self._heartbeat_us or channel.owed > channel.delivered:
                dead.append(channel)
                continue
            channel.owed = channel.claimed
            if channel.is_up:
                self.send(channel.peer, Heartbeat(channel.connection, channel.sent))
        return dead

    def with_peer(self, peer: Name) -> list[Channel]:
        """All connections with a process."""
        return [channel for channel in self.channels.values() if channel.peer == peer]
