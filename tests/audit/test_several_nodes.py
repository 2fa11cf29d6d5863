"""What a reader says about several nodes: their rank, who is on one host, how much there is of something."""

from __future__ import annotations

from pathlib import Path

from hacheck.audit.audit import read_system
from hacheck.audit.configuration import AllNodes
from hacheck.audit.expressions import evaluate

READER = """
product = "pairs"
title = "Pairs"
[file.server]
format = "ini"
names = ["server.ini"]
signature = ["priority"]
rank = "priority"
[file.watcher]
format = "ini"
names = ["watcher.ini"]
signature = ["peers"]
[setting.priority]
path = ["priority"]
kind = "number"
[setting.peers]
path = ["peers"]
file = "watcher"
kind = "count"
[[mode]]
name = "pair"
spec = "vrrp"
nodes = { Router = ["first", "second"] }
findings = { one_master = "split_brain" }
"""


def made(folder: Path) -> AllNodes:
    reader = folder / "reader.toml"
    reader.write_text(READER)
    for host, name, text in (
        ("low", "server.ini", "priority = 50\n"),
        ("high", "server.ini", "priority = 100\n"),
        ("high", "watcher.ini", "peers = a, b ,c\n"),
        ("third", "watcher.ini", "peers = a\n"),
    ):
        (folder / "etc" / host).mkdir(parents=True, exist_ok=True)
        (folder / "etc" / host / name).write_text(text)
    configuration, _, _ = read_system([str(folder / "etc")], None, str(reader))
    return AllNodes(configuration)


def test_nodes_have_their_ranks_whatever_the_order_of_files(tmp_path: Path) -> None:
    roles = {node.name: node.role for node in made(tmp_path).configuration.nodes if node.kind == "server"}
    assert roles == {"high": "first", "low": "second"}


def test_two_kinds_of_files_of_one_host_are_two_nodes(tmp_path: Path) -> None:
    names = {node.name for node in made(tmp_path).configuration.nodes}
    assert names == {"low", "high", "high (watcher)", "third"}


def test_entries_and_words_are_counted(tmp_path: Path) -> None:
    assert evaluate("max(peers)", made(tmp_path)) == 3
    assert evaluate("min(peers)", made(tmp_path)) == 1


def test_who_is_beside_another(tmp_path: Path) -> None:
    assert evaluate("beside('watcher', 'server')", made(tmp_path)) == 1
    assert evaluate("beside('server', 'watcher')", made(tmp_path)) == 1
