"""Brokers with a store: what outlives a restart, and what a disk must be."""

from __future__ import annotations

import msgspec
import pytest

from hacheck.impl.node import Setup
from hacheck.impl.protocols.qpid.broker import Broker, Place
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.system import Refused
from tests.impl.qpid.stage import Stage


def test_id_of_a_broker_outlives_restarts_and_is_no_other_brokers() -> None:
    """Survey 1.1: the system id."""
    stage = Stage(2, fencing="none").start()
    before = [stage.nodes[name].system for name in stage.names]
    assert before[0] != before[1]
    stage.crash(*stage.names).start()
    assert [stage.nodes[name].system for name in stage.names] == before
    stage.crash("broker-1")
    stage.disks["broker-1"].clear()
    stage.start("broker-1")
    assert stage.nodes["broker-1"].system not in before


def test_disk_of_a_newer_version_is_refused() -> None:
    """Unknown formats are not guessed at."""
    durable = {"broker": msgspec.msgpack.encode({"system": "x", "version": 2})}
    with pytest.raises(Refused, match="of version 2"):
        Broker(Setup("broker-1", 0, durable, Options()), Options(), Place((), "manager"))


def test_disk_that_cannot_be_read_is_refused() -> None:
    """A damaged disk is no empty one."""
    with pytest.raises(Refused, match="cannot be read"):
        Broker(Setup("broker-1", 0, {"broker": b"\xc1"}, Options()), Options(), Place((), "manager"))
