"""Votes and the network check: whether a broker may take over, or stay. Source: broker facts 2.5 `DECIDE`, 2.6."""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.messages import HealthPing, HealthPong, Vote, VoteRequest
from hacheck.impl.protocols.artemis.replication.ballot import Ballot, votes_needed
from hacheck.impl.protocols.artemis.replication.broker import Broker
from hacheck.impl.protocols.artemis.replication.states import SERVING, Cause, State

REPLACE, STAY = "replace", "stay"


def decide(broker: Broker) -> None:
    """A replica has lost its primary: is that gone, or is it only the way to it? The channel is closed here as well."""
    broker.primary = None
    broker.vote_won = None
    begin(broker, REPLACE, broker.options.vote_retries)


def begin_stay_vote(broker: Broker) -> None:
    """A primary has lost its replica: is it still the primary for the others?"""
    begin(broker, STAY, 0)


def begin(broker: Broker, question: str, left: int) -> None:
    """Calls for a vote."""
    options, process = broker.options, broker.process
    size = options.quorum_size if options.quorum_size > 0 else max(broker.topology.largest, 1)
    voters = broker.topology.others(broker.node_id)
    needed = votes_needed(size, wrong=options.bug_vote_size)
    ballot = broker.ballot = Ballot(process.fresh(), question, voters, needed, left)
    process.line(221066, vote=question, node_id=broker.node_id, needed=ballot.needed, voters=list(voters))
    process.line(221084, node_id=broker.node_id)
    if needed == 0:
        process.line(221083, node_id=broker.node_id)
    for voter in voters:
        process.line(221060, voter=voter)
        process.send(voter, VoteRequest(ballot.name, question, broker.node_id))
    if ballot.over():
        close(broker)
    else:
        wait = options.quorum_vote_wait_us if question == REPLACE else options.stay_vote_wait_us
        process.set_timer("ballot", wait)


def vote_requested(broker: Broker, sender: Name, message: VoteRequest) -> None:
    """A vote is what this broker's topology says. Who does not serve has none."""
    connector = broker.topology.connector(message.node_id)
    options = broker.options
    if message.question == REPLACE or options.bug_stay_vote_inverted:
        yes = not connector or options.bug_vote_on_reachability
    else:
        yes = connector == sender or (bool(connector) and options.bug_stay_vote_by_node_id)
    serves = broker.serves
    broker.process.line(221064 if connector else 221065, of=message.node_id, asked_by=sender, yes=yes)
    broker.process.send(sender, Vote(message.ballot, yes and serves, connector))


def voted(broker: Broker, sender: Name, message: Vote) -> None:
    """A vote has come."""
    ballot = broker.ballot
    if ballot is None or ballot.name != message.ballot:
        return
    if ballot.question == STAY and message.connector not in ("", broker.process.member):
        broker.process.line(224098, node_id=broker.node_id, connector=message.connector)
    broker.process.line(221062, voter=sender, yes=message.yes)
    count(broker, ballot, sender, yes=message.yes)


def voter_gone(broker: Broker, voter: Name) -> None:
    """A voter that does not answer says no."""
    if broker.ballot is not None:
        count(broker, broker.ballot, voter, yes=False)


def count(broker: Broker, ballot: Ballot, voter: Name, *, yes: bool) -> None:
    """Counts a vote, and closes the ballot if that decides it."""
    if voter in ballot.open:
        ballot.count(voter, yes=yes)
        if ballot.over():
            close(broker)


def ballot_due(broker: Broker) -> None:
    """The one that has not voted says no."""
    if broker.ballot is not None:
        close(broker, timed_out=True)


def close(broker: Broker, *, timed_out: bool = False) -> None:
    """A vote is over."""
    ballot, broker.ballot = broker.ballot, None
    assert ballot is not None
    process = broker.process
    process.cancel_timer("ballot")
    process.line(221069 if timed_out else 221068, vote=ballot.question, won=ballot.won(), votes=ballot.yes)
    if ballot.question == STAY:
        if broker.state in SERVING and not ballot.won():
            broker.give_up("the others do not know this broker as the primary any more")
    elif broker.state is State.DECIDING:
        if ballot.won():
            conclude(broker, won=True)
        elif ballot.left > 0:
            broker.left = ballot.left - 1
            broker.step_after(broker.options.vote_retry_wait_us)
        else:
            conclude(broker, won=False)


def vote_again(broker: Broker) -> None:
    """The next try."""
    begin(broker, REPLACE, broker.left)


def conclude(broker: Broker, *, won: bool) -> None:
    """The vote is decided; where there is a network check list, its hosts are pinged as well."""
    broker.process.line(221071 if won else 221070, node_id=broker.node_id)
    if broker.gateways and (won or broker.options.bug_health_overrides_vote):
        broker.vote_won = won
        ask_gateways(broker)
    else:
        act(broker, won=won)


def act(broker: Broker, *, won: bool) -> None:
    """Takes over, if its copy is complete, or starts again as a backup."""
    if broker.state is not State.DECIDING:
        return
    if not won:
        broker.start_again("the active server may live")
    elif broker.up_to_date:
        broker.go(Cause.FAIL_OVER)
    else:
        broker.give_up("the active server is gone, and not everything was copied")


# ---- the network check ---------------------------------------------------------------------------------------------


def check_network(broker: Broker) -> None:
    """The regular check."""
    broker.process.set_timer("network", broker.options.network_check_period_us)
    ask_gateways(broker)


def ask_gateways(broker: Broker) -> None:
    """Pings all hosts on the list."""
    broker.health_check += 1
    broker.health_answers = 0
    for gateway in broker.gateways:
        broker.process.send(gateway, HealthPing(broker.health_check))
    broker.process.set_timer("health", broker.options.network_check_timeout_us)


def gateway_answered(broker: Broker, sender: Name, message: HealthPong) -> None:
    """One answer is enough."""
    if message.check == broker.health_check:
        broker.health_answers += 1
        broker.process.cancel_timer("health")
        health_known(broker, healthy=True)


def health_due(broker: Broker) -> None:
    """No answer in time."""
    if not broker.health_answers:
        health_known(broker, healthy=False)


def health_known(broker: Broker, *, healthy: bool) -> None:
    """Who is cut off neither serves nor takes over."""
    broker.healthy = healthy
    won, broker.vote_won = broker.vote_won, None
    if won is not None:
        if not healthy:
            broker.process.line(222213, node_id=broker.node_id)
        act(broker, won=healthy)
    elif not healthy and (broker.serves or broker.state is State.ACTIVATING):
        broker.go(Cause.UNHEALTHY)
    elif healthy and broker.state is State.ISOLATED:
        broker.go(Cause.HEALTHY)
