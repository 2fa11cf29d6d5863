"""Who is hit and when: targets, profiles, and what counts as a fault that happened."""

from __future__ import annotations

from random import Random

import pytest

from hacheck.impl.simulator.fault_injection import Injector
from hacheck.impl.simulator.faults import NAMES, Fault, between
from hacheck.impl.simulator.profiles import PROFILES, TARGETS, names, profile
from hacheck.impl.simulator.random_faults import LASTS
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.simulator.targets import DIRECTIONS, MEMBERS, Cluster
from hacheck.impl.system import Member, Refused
from tests.nightly import nightly
from tests.simulation.puppets import US, Strings, send
from tests.simulation.toys import COUNTERS


def cluster(servers: int, clients: int = 2) -> Cluster:
    members = [Member(f"s-{n}", "replica", ("disk",), ("lock",)) for n in range(servers)]
    members += [Member(f"c-{n}", "client") for n in range(clients)]
    return Cluster(members, lambda: ("s-0",))


@pytest.mark.parametrize("servers", range(1, 8))
def test_words_for_who_mean_what_they_say(servers: int) -> None:
    there = cluster(servers)
    for seed in range(50):
        random = Random(seed)
        found = {word: MEMBERS[word](there, random) for word in MEMBERS}
        assert found["coordinator"] == ("s-0",)
        assert len(found["one"]) == 1
        assert 2 * len(found["minority"]) < servers
        assert 3 * len(found["third"]) < servers
        assert not found["majority"] or servers / 2 < len(found["majority"])
        assert len(found["all"]) == servers
        assert found["client"][0].startswith("c-")


def reached(there: Cluster, cut: set[tuple[str, str]], name: str) -> set[str]:
    """Who talks with a server in both directions; itself among them."""
    return {
        other for other in there.servers if other == name or ((name, other) not in cut and (other, name) not in cut)
    }


@pytest.mark.parametrize("servers", range(3, 8))
def test_in_a_ring_each_reaches_a_majority_and_not_all_the_same_one(servers: int) -> None:
    there = cluster(servers)
    cut = set(DIRECTIONS["ring"](there, Random(servers)))
    majorities = {frozenset(reached(there, cut, name)) for name in there.servers}
    assert all(2 * len(one) > servers for one in majorities)
    assert len(majorities) > 1


@pytest.mark.parametrize("servers", range(3, 8))
def test_a_bridge_is_the_only_way_between_two_sides(servers: int) -> None:
    for seed in range(20):
        there = cluster(servers)
        cut = set(DIRECTIONS["bridge"](there, Random(seed)))
        whole = [name for name in there.servers if len(reached(there, cut, name)) == servers]
        assert len(whole) == 1
        sides = {frozenset(reached(there, cut, name) - {*whole}) for name in there.servers if name not in whole}
        assert len(sides) == 2
        assert not frozenset.intersection(*sides)


def test_cuts_name_only_directions_that_there_are() -> None:
    strings = Strings(5)
    members = strings.members(5, 0, None)
    there = Cluster(members, lambda: ("a",))
    for word, directions in DIRECTIONS.items():
        for seed in range(20):
            for pair in directions(there, Random(seed)):
                assert pair in strings.world.network.links, word


def test_only_one_direction_is_cut_where_one_is_deaf_or_mute() -> None:
    there = cluster(3)
    for seed in range(20):
        assert len({to for _, to in DIRECTIONS["deaf"](there, Random(seed))}) == 1
        assert len({sender for sender, _ in DIRECTIONS["mute"](there, Random(seed))}) == 1


def test_everything_that_can_be_drawn_can_be_made_to_happen() -> None:
    assert set(TARGETS) == set(NAMES)
    assert set(LASTS) <= set(NAMES)
    assert {kind for kinds in PROFILES.values() for kind in kinds} == set(NAMES)
    assert set(Injector(Strings().world)._kinds) == set(NAMES)
    known = {*MEMBERS, *DIRECTIONS, "lock", "storage"}
    assert all(target in known for targets in TARGETS.values() for target in targets)


def test_every_kind_of_fault_happens_and_makes_a_difference() -> None:
    happened: set[str] = set()
    for seed in range(40):
        outcome = run(COUNTERS, Plan(seed=seed, faults="everything", fault_us=20 * US))
        happened |= {label.partition("/")[0] for label in outcome.happened}
        if happened == set(NAMES):
            return
    pytest.fail(f"never happened: {set(NAMES) - happened}")


@pytest.mark.parametrize("name", PROFILES)
def test_profile_draws_only_its_own_kinds(name: str) -> None:
    outcome = run(COUNTERS, Plan(seed=3, faults=name, fault_us=10 * US))
    assert {fault.kind for fault in outcome.faults} <= set(PROFILES[name])


def test_what_a_protocol_promises_is_drawn_with_a_minority_down_at_most() -> None:
    for seed in range(10):
        outcome = run(COUNTERS, Plan(seed=seed, faults="promised", replicas=5, fault_us=20 * US))
        assert outcome.faults
        assert {fault.kind for fault in outcome.faults} <= {"crash", "power", "pause"}
        for fault in outcome.faults:
            down = {
                name
                for other in outcome.faults
                if other.at_us <= fault.at_us < other.at_us + other.for_us
                for name in other.members
                if name.startswith("replica")
            }
            assert len(down) <= 2


def test_of_faults_that_are_survived_once_a_run_has_one() -> None:
    faults = "crash/one once,pause/one once,crash/client"
    drawn = [run(COUNTERS, Plan(seed=seed, faults=faults, fault_us=20 * US)).faults for seed in range(10)]
    of_servers = [[fault for fault in one if fault.target == "one"] for one in drawn]
    assert max(map(len, of_servers)) == 1
    assert {fault.kind for one in of_servers for fault in one} == {"crash", "pause"}
    assert max(len(one) for one in drawn) > 2, "others come as often as they like"


@nightly
def test_stretched_run_has_fewer_faults_that_last_longer() -> None:
    usual, stretched = (
        [run(COUNTERS, Plan(seed=seed, faults="pause", fault_us=200 * US, stretch=by)).faults for seed in range(8)]
        for by in (1, 10)
    )
    assert 0 < 3 * sum(map(len, stretched)) < sum(map(len, usual))
    assert max(fault.for_us for one in usual for fault in one) <= LASTS["pause"][1]
    assert max(fault.for_us for one in stretched for fault in one) > LASTS["pause"][1]


def test_unknown_profile_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Refused, match="did you mean `chaos`"):
        profile("choas", COUNTERS, cluster(3))
    assert "promised" in names()


def test_fault_that_makes_no_difference_is_no_fault_that_happened() -> None:
    faults = (
        Fault("cut", US, US, links=between(["a"], ["b"]), target="pair"),
        Fault("pause", 5 * US, 1000, ("a",), target="one"),
        Fault("disk-full", 6 * US, 1000, ("a",), target="one"),
        Fault("lock-lost", 7 * US, hosts=("host",), target="lock"),
        Fault("cut", 8 * US, US, links=between(["a"], ["b"]), target="pair"),
    )
    strings = Strings(faults=faults)
    strings.run(8 * US + 1)
    strings.act("a", send("b", "1"))
    strings.run(20 * US)
    assert strings.world.hits == {4: 1}


def test_crash_of_who_is_down_is_none_and_restart_waits_for_both() -> None:
    faults = (Fault("crash", US, 5 * US, ("a",)), Fault("crash", 2 * US, 10 * US, ("a",)))
    strings = Strings(faults=faults)
    strings.run(11 * US)
    assert strings.world.processes["a"].node is None
    strings.run(13 * US)
    assert strings.world.processes["a"].incarnation == 1
    assert strings.world.hits == {0: 1}


def test_all_is_well_again_when_faults_are_over() -> None:
    strings = Strings(
        3,
        faults=[
            Fault("crash", US, members=("a",)),
            Fault("pause", US, members=("b",)),
            Fault("cut", US, links=between(["b"], ["c"])),
            Fault("clock-rate", US, members=("c",), amount=500_000),
        ],
    )
    strings.run(2 * US)
    strings.injector.end_all()
    world = strings.world
    assert all(process.running and process.even for process in world.processes.values())
    assert not any(link.cuts for link in world.network.links.values())
