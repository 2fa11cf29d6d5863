"""Runs of a model, carried out step by step on a real system, and compared with it after each step.

This package knows no product. It has the schedule (`replayer`), messages that are held until their step is due
(`traffic`, `tcp_proxies`), processes (`processes`), and the comparison of states (`state_comparison`). A product is a
plug-in of three parts: a wire reader, a table from steps to messages, and a query of its state (`product`).

What is named here is what a plug-in of one's own needs (docs/replay.md).
"""

from __future__ import annotations

from hacheck.replay.model_run import ModelRun, ModelStep
from hacheck.replay.outcomes import EnvironmentLacks, Masked, NotCarriedOut, Refuted
from hacheck.replay.processes import ProcessGroup, free_base
from hacheck.replay.product import Position, Product, Session, until, until_line
from hacheck.replay.recording import Recording
from hacheck.replay.relayed_connection import Heard, WireReader
from hacheck.replay.tcp_proxies import TcpProxies
from hacheck.replay.traffic import CLIENT, Message, Traffic

__all__ = [
    "CLIENT",
    "EnvironmentLacks",
    "Heard",
    "Masked",
    "Message",
    "ModelRun",
    "ModelStep",
    "NotCarriedOut",
    "Position",
    "ProcessGroup",
    "Product",
    "Recording",
    "Refuted",
    "Session",
    "TcpProxies",
    "Traffic",
    "WireReader",
    "free_base",
    "until",
    "until_line",
]
