"""What of pairs no scenario tells: databases, settings, clients with durable connections."""

from __future__ import annotations

import pytest

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Setup
from hacheck.impl.protocols.fiorano.client import PENDING
from hacheck.impl.protocols.fiorano.database import HEAD, Batch, Head
from hacheck.impl.protocols.fiorano.messages import Change, Hello, SendMessage
from hacheck.impl.protocols.fiorano.repository import META, Meta
from hacheck.impl.protocols.fiorano.system import REPLICATED, SHARED
from hacheck.impl.system import Refused, System
from tests.impl.fiorano.pairs import Pair, in_step, sharing
from tests.impl.stage import SECOND

MESSAGE = SendMessage("orders", b"body")


@pytest.mark.parametrize("verifying", [False, True])
def test_change_after_one_that_is_missing_is_not_acknowledged(verifying: bool) -> None:
    """The one that activates next stops reading the log at the gap."""
    pair = sharing(verify_before_answer=verifying)
    pair.slow.add("primary")
    pair.ask("primary", MESSAGE)
    requests = pair.processes["primary"].requests
    missing = requests.popleft()
    pair.unslow("primary")
    second = pair.ask("primary", MESSAGE)
    pair.run(0.1)
    assert pair.answers() == []
    requests.append(missing)
    pair.unslow("primary")
    pair.run(0.1)
    assert pair.answers()[-1] == second


def test_database_that_changes_while_it_is_read_is_read_again() -> None:
    """A server that has ended has its activation still under way: that takes away the log that the next one reads."""
    pair = sharing()
    requests = [pair.ask("primary", MESSAGE) for _ in range(5)]
    pair.run(0.1)
    assert pair.answers() == requests
    pair.crash("primary")
    pair.run(0.0007)
    assert pair.state("backup") == "ACTIVATING"
    disk = pair.shared["database"]
    old = Batch(5, tuple((name, value) for name, value in everything(disk)))
    disk.clear()
    disk |= {HEAD: encode(Head(activation=2, holder="primary.1")), "base/2": encode(old)}
    pair.run(0.1)
    assert [stored.request for _, stored in pair.node("backup").repository.messages()] == requests


def everything(disk: dict[str, bytes]) -> list[Change]:
    """All changes in the log of the first activation."""
    logs = [decode(disk[f"log/1/{number}"], Batch, "a test") for number in range(1, 6)]
    return [change for batch in logs for change in batch.changes]


@pytest.mark.parametrize("verifying", [False, True])
def test_server_that_was_superseded_answers_nobody(verifying: bool) -> None:
    """The lock is lost without a word; hardened, the database shows."""
    pair = sharing(verify_before_answer=verifying, lock_check_us=60_000_000)
    pair.holders["gateway"] = "backup"
    pair.part("primary", "backup")
    pair.node("backup").lock_file.doubt()
    pair.crash("backup")
    pair.start("backup")
    pair.holders["gateway"] = "backup"
    pair.run(1)
    assert pair.serving() == ("primary", "backup")
    pair.ask("primary", MESSAGE)
    pair.run(1)
    assert bool(pair.answers()) is not verifying
    assert ("primary" in pair.serving()) is not verifying


@pytest.mark.parametrize(
    ("system", "key", "value"), [(REPLICATED, META, Meta(version=2)), (SHARED, HEAD, Head(version=2))]
)
def test_data_of_another_version_is_refused(system: System, key: str, value: Meta | Head) -> None:
    pair = Pair(system)
    if system is SHARED:
        pair.shared["database"][key] = encode(value)
        pair.start("primary")
        pair.run(1)
        assert "version 2" in pair.halted["primary"]
        return
    setup = Setup("primary", 0, {key: encode(value)}, pair.options)
    with pytest.raises(Refused, match="version 2"):
        system.start(pair.members[0], pair.members, setup)


@pytest.mark.parametrize("detected", [False, True])
def test_request_that_is_sent_again_is_done_once_where_it_is_remembered(detected: bool) -> None:
    """Broker facts 3.5: the documents do not discuss duplicates; the memory moves with the database."""
    pair = in_step(detect_duplicates=detected)
    pair.ask("primary", MESSAGE, "same", 7)
    pair.run(0.1)
    pair.crash("primary")
    pair.run(2)
    pair.ask("backup", MESSAGE, "same", 7)
    pair.run(0.1)
    assert pair.answers() == ["same", "same"]
    assert len(pair.node("backup").repository.messages()) == (1 if detected else 2)


def test_client_goes_to_the_backup_and_keeps_what_it_could_not_send() -> None:
    """How do failovers happen: all data sent while disconnected is stored, and transferred after the reconnection."""
    pair = sharing(1, pause_us=50_000)
    pair.run(2)
    pair.crash("primary")
    pair.crash("backup")
    pair.run(3)
    kept = [name for name in pair.disks["client-1"] if name.startswith(PENDING)]
    assert len(kept) > 3
    pair.crash("client-1")
    pair.start("client-1", "backup")
    pair.run(5)
    assert pair.fields("connected", "client-1")[-1]["server"] == "backup"
    assert not [name for name in kept if name in pair.disks["client-1"]]
    assert pair.promises_broken() == set()


def test_settings_are_checked() -> None:
    with pytest.raises(Refused, match="did you mean `lock_file`"):
        REPLICATED.options({"lockfile": "true"})
    with pytest.raises(Refused, match="one of both, own"):
        REPLICATED.options({"answer-after": "none"})
    with pytest.raises(Refused, match="above 0"):
        SHARED.options({"ping-us": "0"})
    with pytest.raises(Refused, match="needs a lock file"):
        REPLICATED.options({"lock-file": "false", "epochs-in-lock-file": "true"})
    with pytest.raises(Refused, match="ask for 2"):
        SHARED.members(3, 1, SHARED.options({}))


def test_active_server_goes_on_trying_to_reach_its_peer() -> None:
    """3.2.1: it keeps trying to connect to its backup server; that is PASSIVE when it starts."""
    pair = Pair(SHARED)
    pair.start("primary")
    pair.run(10)
    assert pair.state("primary") == "ACTIVE"
    tries = [to for by, to, what in pair.sent if by == "primary" and isinstance(what, Hello)]
    assert len(tries) >= 10_000_000 // pair.options.ping_us
    pair.start("backup")
    pair.run(1)
    assert [fields["what"] for fields in pair.fields("channel", "primary")][-1] == "up"
    assert pair.state("backup") == "PASSIVE"


def test_server_that_hears_no_heartbeat_gives_its_peer_up() -> None:
    """3.2: the pair seeks the heartbeat of the other, and watches for a break."""
    pair = sharing()
    pair.run(10)
    assert [fields["what"] for fields in pair.fields("channel", "backup")] == ["up"]
    since = pair.now
    pair.cut.add(("primary", "backup"))
    pair.run(4)
    down = [at for at, who, one in pair.log if who == "backup" and one.fields.get("what") == "down"]
    assert pair.options.socket_timeout_us <= down[0] - since <= pair.options.socket_timeout_us + SECOND


@pytest.mark.parametrize(("system", "copies"), [(SHARED, 1), (REPLICATED, 2)])
def test_shared_mode_writes_a_message_once_and_replicated_mode_twice(system: System, copies: int) -> None:
    """3.3: one disk-write for each operation, or one for each database; 3.2.3: there is one, for both servers."""
    pair = sharing() if system is SHARED else in_step()
    request = pair.ask("primary", SendMessage("orders", b"seen nowhere else"))
    pair.run(0.1)
    assert pair.answers() == [request]
    found = {
        disk: sum(value.count(b"seen nowhere else") for value in content.values())
        for disk, content in (pair.disks | pair.shared).items()
    }
    assert {disk for disk, count in found.items() if count} == (
        {"database"} if system is SHARED else {"primary", "backup"}
    )
    assert sum(found.values()) == copies


def test_two_that_claim_an_epoch_at_once_do_not_both_get_it() -> None:
    """FI-2 hardened: the lock is lost without a word, and both find the channel broken."""
    pair = in_step(epochs_in_lock_file=True, lock_check_us=60_000_000)
    pair.part("primary", "backup")
    pair.node("primary").channel.give_up()
    pair.node("backup").channel.give_up()
    for _ in range(2000):
        pair.holders.clear()
        pair.run(0.005)
        assert len(pair.serving()) <= 1 or pair.state("primary") != "STANDALONE"
