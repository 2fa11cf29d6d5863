"""Products started with the files that an audit reads, and what they say of their settings. Nothing leaves loopback.

keepalived runs in a network of its own, which has one interface and nobody else in it. Addresses of Redis and of etcd
are replaced by loopback before anybody reads the files, the audit included.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from hacheck.audit.audit import read_system
from hacheck.audit.configuration import Node
from hacheck.replay.processes import HOST, ProcessGroup, free_base

CASES = Path(__file__).parents[1] / "data" / "audit"
SECONDS_MAX = 60.0
ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")
SECURE = "global_defs {\n    script_user nobody\n    enable_script_security\n}\n"
NETWORK = """ip link set lo up
ip link add eth0 type veth peer name eth1
ip addr add 192.0.2.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up
exec keepalived -n -l -d -f {file} -p {folder}/all.pid -r {folder}/vrrp.pid -c {folder}/checker.pid
"""
"""A network of its own: `unshare -n` has made it, and only loopback is in it."""


PAIR = """ip link set lo up
unshare -n sleep 600 &
other=$!
sleep 0.2
ip link add eth0 type veth peer name eth0 netns $other
ip addr add 192.0.2.1/24 dev eth0
ip link set eth0 up
cat > second.sh <<END
ip link set lo up
ip addr add 192.0.2.2/24 dev eth0
ip link set eth0 up
exec keepalived -n -l -D -f 2.conf -p 2a.pid -r 2b.pid -c 2c.pid > 2.log 2>&1
END
nsenter -t $other -n sh second.sh &
second=$!
trap 'kill $second $other; wait; exit' TERM
keepalived -n -l -D -f 1.conf -p 1a.pid -r 1b.pid -c 1c.pid > 1.log 2>&1 &
first=$!
trap 'kill $first $second $other; wait; exit' TERM
wait
"""
"""Two networks that have nothing but a cable between them, and a keepalived in each."""


def present(*programs: str) -> bool:
    """Whether all of these programs are installed."""
    return all(shutil.which(one) for one in programs)


def node_at(path: Path, product: str, version: str) -> Node:
    """The one node that files describe, as an audit reads them."""
    configuration, _, _ = read_system([str(path)], f"{product}@{version}", None)
    (node,) = configuration.nodes
    return node


def given(node: Node, name: str) -> str:
    """The value of a setting as `--show` prints it."""
    return node.values[name].text


def wait_for(what: Callable[[], bool], group: ProcessGroup, log: Path) -> None:
    """Waits until something is so. Errors: `AssertionError` with the log where it does not come, or a process ends."""
    end = time.monotonic() + SECONDS_MAX
    while not what():
        ended = [member for member in group.running if not group.alive(member)]
        assert not ended, log.read_text(errors="replace")[-3000:]
        assert time.monotonic() < end, log.read_text(errors="replace")[-3000:]
        time.sleep(0.05)


# ---- keepalived ----


def keepalived_dump(file: Path, folder: Path) -> str:
    """What keepalived prints of its configuration when it starts with a file."""
    script, log = folder / f"{file.stem}.sh", folder / f"{file.stem}.log"
    script.write_text(NETWORK.format(file=file, folder=folder))
    log.touch()
    with ProcessGroup() as group:
        group.start(1, ["unshare", "-n", "sh", str(script)], folder, log, {})
        wait_for(lambda: "------< Interfaces >------" in log.read_text(errors="replace"), group, log)
        group.stop(1)
    return log.read_text(errors="replace")


def dumped(text: str, name: str) -> str:
    """The value of a name in keepalived's dump: the last one, since the first ones are of the whole."""
    found = re.findall(rf"{re.escape(name)} = (.*)", text)
    assert found, f"{name} is not in\n{text[-3000:]}"
    return str(found[-1]).strip()


class Pair:
    """Two real keepalived with the files of a case, whose check is whether a file is there. Ended when it is left."""

    def __init__(self, case: str, folder: Path) -> None:
        self.folder, self.log, self.group = folder, folder / "pair.log", ProcessGroup()
        hosts = sorted(path for path in (CASES / case).iterdir() if path.is_dir())
        for number, host in enumerate(hosts, start=1):
            text = (host / "keepalived.conf").read_text(encoding="utf-8")
            text = text.replace("/usr/bin/killall -0 haproxy", f"/usr/bin/test -e {folder}/works{number}")
            (folder / f"{number}.conf").write_text(SECURE + text)
        (folder / "pair.sh").write_text(PAIR)
        for name in ("works1", "works2", "1.log", "2.log"):
            (folder / name).touch()

    def __enter__(self) -> Pair:
        self.group.start(1, ["unshare", "-n", "sh", "pair.sh"], self.folder, self.log, {})
        return self

    def __exit__(self, *error: object) -> None:
        self.group.stop(1)

    def state(self, number: int) -> str:
        """The state that a router has entered last."""
        found = re.findall(r"Entering (\w+) STATE", (self.folder / f"{number}.log").read_text(errors="replace"))
        return str(found[-1]) if found else ""

    def wait(self, what: Callable[[], bool]) -> None:
        """Waits until something is so."""
        wait_for(what, self.group, self.folder / "1.log")

    def service_fails(self) -> None:
        """The check of the first router fails from now on, and it has noticed."""
        (self.folder / "works1").unlink()
        seen = re.compile(r"effective priority|Entering FAULT STATE|failed")
        self.wait(lambda: seen.search((self.folder / "1.log").read_text(errors="replace")) is not None)

    def cut(self) -> None:
        """What the first one sends does not arrive from now on, though the cable is in."""
        inside = ["nsenter", "-t", str(self.group.process_ids()[1]), "-n"]
        subprocess.run([*inside, "tc", "qdisc", "replace", "dev", "eth0", "root", "pfifo", "limit", "0"], check=True)


# ---- Redis ----


def redis_copy(source: Path, target: Path, port: int) -> Path:
    """The file with loopback for every address, and a port of its own."""
    text = ADDRESS.sub(HOST, source.read_text(encoding="utf-8"))
    target.write_text(re.sub(r"(?m)^port \d+", f"port {port}", text))
    return target


def redis_answer(port: int, *words: str) -> list[str]:
    """What a server answers to a command, flat."""
    request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    with socket.create_connection((HOST, port), timeout=5) as connection:
        connection.sendall(request.encode())
        with connection.makefile("rb") as stream:
            return _reply(stream.readline, stream.read)


def _reply(readline: Callable[[], bytes], read: Callable[[int], bytes]) -> list[str]:
    head = readline().decode().strip()
    match head[:1]:
        case "*":
            return [word for _ in range(int(head[1:])) for word in _reply(readline, read)]
        case "$":
            return [read(int(head[1:]) + 2)[:-2].decode()]
        case _:
            return [head[1:]]


def redis_reports(file: Path, folder: Path, port: int, commands: list[tuple[str, ...]]) -> dict[str, str]:
    """Starts a server, or a sentinel, and asks it: names and values of all answers."""
    log = folder / "redis.log"
    command = ["redis-server", str(file), "--dir", str(folder), "--daemonize", "no", "--protected-mode", "no"]
    command += ["--sentinel"] if "sentinel" in file.name else []
    with ProcessGroup() as group:
        group.start(1, command, folder, log, {})
        wait_for(lambda: _listens(port), group, log)
        words = [redis_answer(port, *one) for one in commands]
        group.stop(1)
    return {name: value for one in words for name, value in zip(one[::2], one[1::2], strict=True)}


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


# ---- Patroni ----


def patroni_reports(case: str, host: str, folder: Path) -> tuple[dict[str, object], dict[str, object], Path]:
    """Starts etcd, and Patroni with a file of a case, as the user `postgres`: what it answers to `/config` and to
    `/patroni`, and the file that it was started with."""
    ports = free_base(5, set())
    store, peer, rest, database = (ports + number for number in range(4))
    file = folder / "patroni.yml"
    text = ADDRESS.sub(HOST, (CASES / case / host / "patroni.yml").read_text(encoding="utf-8"))
    text = re.sub(r"(?m)^(\s+listen: 0\.0\.0\.0|\s+(?:connect_address|listen): 127\.0\.0\.1):8008", rf"\1:{rest}", text)
    text = re.sub(r":8008\b", f":{rest}", text)
    text = re.sub(r":5432\b", f":{database}", text).replace("0.0.0.0", HOST)
    text = re.sub(r"(?m)^    - 127\.0\.0\.1:2379\n", "", text).replace(
        "  hosts:\n", f"  hosts:\n    - {HOST}:{store}\n"
    )
    text = re.sub(r"data_dir: .*", f"data_dir: {folder}/data", text)
    file.write_text(text + f"  bin_dir: {Path(os.path.realpath(shutil.which('initdb') or 'initdb')).parent}\n")
    etcd = ["etcd", "--data-dir", f"{folder}/etcd", "--name", "one", "--initial-cluster", f"one=http://{HOST}:{peer}"]
    for kind, port in (("client", store), ("peer", peer)):
        etcd += [f"--listen-{kind}-urls", f"http://{HOST}:{port}"]
    etcd += ["--advertise-client-urls", f"http://{HOST}:{store}"]
    etcd += ["--initial-advertise-peer-urls", f"http://{HOST}:{peer}"]
    for path in (folder, file):
        shutil.chown(path, "postgres")
    log = folder / "patroni.log"
    with ProcessGroup() as group:
        group.start(1, etcd, folder, folder / "etcd.log", {})
        wait_for(lambda: _listens(store), group, folder / "etcd.log")
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--pdeathsig", "TERM"]
        group.start(2, [*user, str(shutil.which("patroni")), str(file)], folder, log, {"HOME": str(folder)})
        wait_for(lambda: "ttl" in _json(rest, "config"), group, log)
        wait_for(lambda: _json(rest, "patroni").get("state") == "running", group, log)
        config, member = _json(rest, "config"), _json(rest, "patroni")
        group.stop(2, 30)
        group.stop(1)
    return config, member, file


def _json(port: int, path: str) -> dict[str, object]:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/{path}", timeout=5) as answer:
            found = json.load(answer)
    except (OSError, ValueError):  # not there yet, or not ready
        return {}
    return found if isinstance(found, dict) else {}
