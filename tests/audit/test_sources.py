"""Which files are read: those named, those in folders, those that a compose file mounts, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.api.errors import InputError
from hacheck.audit.audit import AuditRequest, audit, read_system
from hacheck.audit.source_files import sources_of
from tests.cli.command import hacheck

BROKER = """<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <ha-policy><replication><{role}/></replication></ha-policy>
    <cluster-password>{password}</cluster-password>
    <connectors><connector name="a">tcp://me:{password}@host:61616</connector></connectors>
  </core>
</configuration>
"""


def written(folder: Path, files: dict[str, str]) -> Path:
    """The files in a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_nodes_are_called_by_their_folders_where_files_do_not_say(tmp_path: Path) -> None:
    files = {
        f"{name}/broker.xml": BROKER.format(role=role, password="x")
        for name, role in (("a", "primary"), ("b", "backup"))
    }
    configuration, _, _ = read_system((str(written(tmp_path, files)),), None, None)
    assert [(node.name, node.role) for node in configuration.nodes] == [("a", "primary"), ("b", "backup")]


def test_a_compose_file_says_which_node_has_which_file(tmp_path: Path) -> None:
    compose = """services:
  first:
    hostname: broker-1
    volumes: ["./one.xml:/etc/artemis/broker.xml:ro"]
  second:
    volumes:
      - type: bind
        source: ./two.xml
        target: /etc/artemis/broker.xml
      - data:/var/lib
      - ../secret.xml:/secret.xml
"""
    files = {
        "stack/compose.yml": compose,
        "stack/one.xml": BROKER.format(role="primary", password="x"),
        "stack/two.xml": BROKER.format(role="backup", password="x"),
        "secret.xml": BROKER.format(role="backup", password="x"),
    }
    configuration, _, skipped = read_system((str(written(tmp_path, files) / "stack"),), "artemis", None)
    assert [(node.name, node.role) for node in configuration.nodes] == [("broker-1", "primary"), ("second", "backup")]
    assert any("../secret.xml lies outside" in text for text in skipped)


def test_options_in_a_compose_file_are_settings_of_the_service(tmp_path: Path) -> None:
    compose = """services:
  node1:
    command: qpidd --ha-cluster=yes --ha-replicate all
    volumes: ["./node1.conf:/etc/qpid/qpidd.conf"]
"""
    files = {"compose.yml": compose, "node1.conf": "ha-brokers-url=a,b\n"}
    configuration, found, _ = read_system((str(written(tmp_path, files) / "compose.yml"),), "qpid", None)
    assert {one.kind for one in found} == {"broker", "command"}
    assert [node.name for node in configuration.nodes] == ["node1"]


def test_what_a_file_includes_is_read_only_below_its_folder(tmp_path: Path) -> None:
    files = {
        "a/keepalived.conf": "include part.conf\ninclude ../outside.conf\nvrrp_instance V {\n  priority 100\n}\n",
        "a/part.conf": "vrrp_script chk {\n  weight -20\n}\n",
        "outside.conf": "vrrp_script other {\n  weight 5\n}\n",
    }
    _, found, _ = read_system((str(written(tmp_path, files) / "a" / "keepalived.conf"),), "keepalived", None)
    names = [
        (entry.value, Path(entry.file).name) for one in found for entry in one.entries if entry.name == "vrrp_script"
    ]
    assert names == [("chk", "part.conf")]


def test_secrets_are_nowhere_in_what_was_read(tmp_path: Path) -> None:
    files = {
        "a/broker.xml": BROKER.format(role="primary", password="hunter2"),
        "b/broker.xml": BROKER.format(role="backup", password="hunter3"),
    }
    configuration, found, _ = read_system((str(written(tmp_path, files)),), None, None)
    shown = [value.text for node in configuration.nodes for value in node.values.values()]
    assert "hunter" not in repr(shown) + repr(configuration.passed) + repr([one.entries for one in found])
    passwords = [node.values["cluster_password"].value for node in configuration.nodes]
    assert passwords[0] != passwords[1]


def test_a_product_is_named_where_files_are_of_none(tmp_path: Path) -> None:
    folder = str(written(tmp_path, {"a.conf": "x = 1\n"}))
    with pytest.raises(InputError, match="no product has files like these"):
        read_system((folder,), None, None)
    with pytest.raises(InputError, match="there is no reader for `rabbit`"):
        read_system((folder,), "rabbit", None)
    with pytest.raises(InputError, match="no file of ActiveMQ Artemis is there"):
        read_system((folder,), "artemis", None)


def test_files_that_are_no_text_are_passed_over_in_folders_and_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe\x00\x01")
    given = sources_of((str(tmp_path),))
    assert (given.found, given.skipped) == ([], [f"{tmp_path}/a.bin: no text"])
    with pytest.raises(InputError, match="no text in UTF-8"):
        sources_of((str(tmp_path / "a.bin"),))


def test_the_version_chooses_defaults(tmp_path: Path) -> None:
    reader = tmp_path / "reader.toml"
    reader.write_text(
        """product = "routers"
title = "Routers"
[file.router]
format = "ini"
signature = ["router/address"]
[setting.wait]
path = ["router/wait"]
kind = "duration"
default = 3
defaults = [{ since = "2.0", value = 1 }]
[[mode]]
name = "pair"
spec = "vrrp"
findings = { one_master = "split_brain" }
"""
    )
    files = {"a/r.ini": "[router]\naddress = 1\n", "b/r.ini": "[router]\naddress = 1\nwait = 1500 ms\n"}
    folder = str(written(tmp_path / "etc", files))
    waits = {}
    for product in ("routers@1.9", "routers@2.1", "routers"):
        configuration, _, _ = read_system((folder,), product, str(reader))
        waits[product] = [node.values["wait"].value for node in configuration.nodes]
    assert waits == {"routers@1.9": [3, 1.5], "routers@2.1": [1, 1.5], "routers": [1, 1.5]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("product = 1", "is no reader"),
        ("product = 'x'\ntitle = 'x'\nfile = {}\nsetting = {}\nmode = []\nextra = 1", "unknown field `extra`"),
        (
            "product = 'x'\ntitle = 'x'\n[file.a]\nformat = 'ini'\nsignature = ['b']\n[setting.c]\npath = ['d']\n"
            "[[mode]]\nname = 'm'\nspec = 'vrrp'\nfindings = {}\nwhen = 'any(cc)'",
            "there is no setting `cc`",
        ),
        (
            "product = 'x'\ntitle = 'x'\n[file.a]\nformat = 'ini'\nsignature = ['b']\n[setting.c]\npath = ['d']\n"
            "[[mode]]\nname = 'm'\nspec = 'vrrp'\nfindings = {}\nwhen = '__import__(c)'",
            "is no function of readers",
        ),
    ],
)
def test_a_reader_that_is_none_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    reader = tmp_path / "reader.toml"
    reader.write_text(text)
    folder = written(tmp_path / "etc", {"a.ini": "b = 1\n"})
    with pytest.raises(InputError, match=message):
        read_system((str(folder),), "x", str(reader))


def test_the_reader_in_the_documents_reads_a_pair_of_routers(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    reader = tmp_path / "routers.toml"
    reader.write_text(page.split("```toml\n")[1].split("```")[0])
    files = {
        "a/router.ini": "[router]\naddress = 10.0.0.1\npriority = 150\n",
        "b/router.ini": "[router]\naddress = 10.0.0.1\ndead-after = 6000\n",
    }
    found = audit(AuditRequest((str(written(tmp_path / "etc", files)),), "routers", str(reader)))
    assert found.names == {"Router 1": "a", "Router 2": "b"}
    assert [(one.kind, one.name) for one in found.findings] == [("split_brain", "one_master")]
    assert found.search is not None
    assert [sorted(one.cures) for one in found.search.remedies] == [["one_master"]]
    assert found.timed is not None
    assert (found.timed.tick, found.timed.now["lease"], found.timed.safe) == (0.5, 6, True)
    assert found.timed.room["pause"] == (0, 0)


def pair_of_brokers(folder: Path) -> Path:
    """A primary and its backup, each in a folder."""
    roles = (("a", "primary"), ("b", "backup"))
    files = {f"{name}/broker.xml": BROKER.format(role=role, password=folder.name) for name, role in roles}
    return written(folder, files)


def test_two_folders_of_one_system_are_its_versions(tmp_path: Path) -> None:
    old, new = (pair_of_brokers(tmp_path / name) for name in ("old", "new"))
    ended = hacheck("audit", str(old), str(new), "--set", "crashes=0", "--set", "cuts=0")
    named = hacheck("audit", "--before", str(old), str(new), "--set", "crashes=0", "--set", "cuts=0")
    assert f"since{old}" in "".join(ended.out.split())  # however long the path is
    assert (ended.code, ended.out.splitlines()[:-1]) == (named.code, named.out.splitlines()[:-1])  # but for the time


def test_two_folders_of_nodes_are_one_system(tmp_path: Path) -> None:
    folder = pair_of_brokers(tmp_path)
    ended = hacheck("audit", str(folder / "a"), str(folder / "b"), "--set", "crashes=0", "--set", "cuts=0")
    assert "since" not in ended.out
    assert "2 nodes" in ended.out


def test_one_node_of_a_pair_is_not_enough_and_the_answer_says_what_is(tmp_path: Path) -> None:
    files = {"lb1/keepalived.conf": "vrrp_instance V {\n  interface eth0\n  priority 100\n  virtual_router_id 5\n}\n"}
    ended = hacheck("audit", str(written(tmp_path, files)))
    assert ended.code == 2
    assert "1 node found (lb1)" in ended.err
    assert "name the files of both machines" in ended.err


def test_what_has_no_bearing_is_listed(tmp_path: Path) -> None:
    files = {
        f"{name}/keepalived.conf": f"vrrp_instance V {{\n  garp_master_delay 1\n  priority {n}\n}}\n"
        for name, n in (("a", 1), ("b", 2))
    }
    configuration, _, _ = read_system((str(written(tmp_path, files)),), "keepalived", None)
    assert [(one.path, one.line) for one in configuration.ignored] == [("vrrp_instance/garp_master_delay", 2)] * 2
