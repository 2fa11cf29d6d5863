"""What producers and consumers do about failures: transactions that are done again, and a manager of distributed ones.

Whatever was unblocked, or rolled back, is done again. A transaction that is refused for a duplicate was committed
before. A transaction manager writes its decision down before it commits what is prepared, and rolls back a branch whose
prepare was not answered. Source: HornetQ manual, "Handling Failover With Transactions", "Handling Failover With Non
Transactional Sessions", "Application-Level Failover".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from hacheck.impl.node import Setup
from hacheck.impl.protocols.artemis.client_library.library import Call, Library, Outcome
from hacheck.impl.protocols.artemis.client_library.options import ClientOptions
from hacheck.impl.protocols.artemis.session_messages import Delivery

DECISION = "decision/"


class Item(Struct, frozen=True):
    """A message. `number`: of this producer's, from 1; `name`: the same for the same message, whatever is sent."""

    number: int
    name: str


class Worker:
    """What producers and consumers have in common: transactions, and their manager.

    `work`: the names of what is in the open transaction; `branch`: the branch that is prepared, and to be committed;
    `undo`: the branch to be rolled back; `again`: the open transaction is to be rolled back; `left`: branches of an
    earlier incarnation that are to be ended. `requests`: the name of each request, by what it is about.
    """

    def __init__(self, library: Library, setup: Setup) -> None:
        self.library = library
        self.process = library.process
        self.options: ClientOptions = setup.options
        self.work: list[Item] = []
        self.branch = self.undo = ""
        self.again = False
        self.decided = {key[len(DECISION) :] for key in setup.durable if key.startswith(DECISION)}
        self.recovers = setup.incarnation > 0 and self.options.session == "xa"
        self.left: list[str] = []
        self.requests: dict[tuple[str, ...], str] = {}

    @property
    def transacted(self) -> bool:
        """Whether it works in transactions."""
        return self.options.session != "plain"

    # ---- what the library says -------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Whatever is owed comes first."""
        library = self.library
        if self.recovers:
            library.do("recover")
        elif self.again:
            library.do("rollback")
        elif self.undo:
            library.do("rollback-branch", branch=self.undo)
        elif self.branch:
            if self.branch in self.decided:
                library.do("commit-branch", branch=self.branch)
        elif self.left:
            branch = self.left[0]
            library.do("commit-branch" if branch in self.decided else "rollback-branch", branch=branch)
        else:
            self.process.set_timer("work", self.options.pause_us)

    def fired(self) -> None:
        """Does the next thing."""
        if self.library.connected and self.library.call is None:
            self.step()

    def failed(self, code: Literal["failover", "disconnect"]) -> None:
        """The failure listener."""
        self.process.record("notified", {"code": code})
        if code == "disconnect" and self.options.application_level:
            self.library.connect_anew()
            if not self.branch:
                self.begin_again()

    def session_lost(self) -> None:
        """Nothing is held."""

    def delivered(self, delivery: Delivery) -> None:
        """Nothing is wanted."""
        raise AssertionError("a producer consumes nothing")

    def ended(self, call: Call, outcome: Outcome, branches: tuple[str, ...]) -> None:
        """A call has ended."""
        unknown = outcome in ("unblocked", "timed-out")
        match call.perform.command:
            case "send" | "acknowledge":
                self.moved(call, unknown=unknown)
            case "commit":
                self.commit_ended(outcome)
            case "prepare":
                self.prepare_ended(call, outcome)
            case "commit-branch":
                if not unknown:
                    self.branch_committed(call.perform.branch)
            case "rollback":
                self.again = unknown
                if self.work:
                    self.report("unknown")
                    self.begin_again()
            case "rollback-branch":
                if not unknown:
                    self.branch_rolled_back(call.perform.branch)
            case "recover":
                if not unknown:
                    self.recovers = False
                    own = f"{self.process.member}."
                    self.left = [name for name in branches if name.startswith(own)]

    # ---- transactions ----------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Ends the open transaction: with an intent to commit it."""
        self.ask()
        if self.options.session == "xa":
            self.library.do("prepare", branch=self.process.fresh())
        else:
            self.library.do("commit")

    def commit_ended(self, outcome: Outcome) -> None:
        """It was committed, or was committed before; or nobody knows."""
        if outcome == "timed-out" and self.options.bug_commit_timeout_is_plain_error:
            self.report("unknown")
        elif outcome == "ok" or (outcome == "duplicate" and not self.options.retries_duplicates):
            self.committed()
        elif outcome == "duplicate" or not self.options.trusts_unknown:
            self.report("unknown")
            self.begin_again()
        else:
            self.committed()

    def prepare_ended(self, call: Call, outcome: Outcome) -> None:
        """It is prepared: the decision is written down before anything is done about it. Or it must be rolled back, for
        nobody knows."""
        if outcome == "ok":
            self.branch = call.perform.branch
            self.process.write(((DECISION + self.branch, b""),), "decided")
        elif outcome == "duplicate" and not self.options.retries_duplicates:
            self.committed()
        else:
            if outcome in ("unblocked", "timed-out"):
                self.undo = call.perform.branch
            self.report("unknown")
            self.begin_again()

    def written(self, purpose: str) -> None:
        """The decision is on disk: the other resources of the transaction commit."""
        assert purpose == "decided"
        self.decided.add(self.branch)
        self.elsewhere()
        if self.library.connected and self.library.call is None:
            self.ready()

    def branch_committed(self, branch: str) -> None:
        """The decision is carried out. A branch that is not there was committed before."""
        self.decided.discard(branch)
        self.process.write(((DECISION + branch, None),))
        if branch == self.branch:
            self.branch = ""
            self.committed()
        elif branch in self.left:
            self.left.remove(branch)

    def branch_rolled_back(self, branch: str) -> None:
        """It has no effect."""
        if branch == self.undo:
            self.undo = ""
        elif branch in self.left:
            self.left.remove(branch)

    def committed(self) -> None:
        """What was in the transaction is done."""
        self.report("ok")
        self.forget()
        self.work.clear()

    # ---- requests, as the oracle of a run compares them --------------------------------------------------------------

    def ask(self) -> None:
        """The work is requested, or requested once more."""
        names = tuple(item.name for item in self.work)
        if names not in self.requests:
            self.requests[names] = self.process.fresh()
            self.process.record("asked", {"request": self.requests[names], **self.request_fields(names)})

    def report(self, outcome: str) -> None:
        """What the application believes of its work."""
        request = self.requests.get(tuple(item.name for item in self.work))
        if request is not None:
            self.process.record("told", {"request": request, "outcome": outcome})

    # ---- what each does ----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """The next thing, when no call is under way."""
        raise NotImplementedError

    def moved(self, call: Call, *, unknown: bool) -> None:
        """A send or an acknowledgement has ended."""
        raise NotImplementedError

    def forget(self) -> None:
        """The work is done."""
        raise NotImplementedError

    def begin_again(self) -> None:
        """The work was not done: all of it once more."""
        raise NotImplementedError

    def elsewhere(self) -> None:
        """What the other resources of the transaction do."""
        raise NotImplementedError

    def request_fields(self, names: tuple[str, ...]) -> Mapping[str, Any]:
        """A request in words."""
        raise NotImplementedError
