"""Settings of the client library and of the applications that use it, over brokers with a shared store."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, FromMinusOne, OrZero
from hacheck.impl.protocols.artemis.options import SharedStoreOptions


class ClientOptions(SharedStoreOptions, frozen=True, kw_only=True):
    """The library. Source: broker facts 2.13, 2.14; HornetQ manual, "Failover Modes".

    `reconnect_attempts`: how often a client tries all servers that it knows again; -1: for ever, 0, the product's
    default: never, so that there is no failover. `initial_connect_attempts`: how often it tries once more to connect
    for the first time; 0, the product's default: once is all. `retry_multiplier_percent`: how much longer each pause
    between two tries is than the one before, which begin with `reconnect_us`; `max_retry_us`: the longest.
    `server_list`: it is given all servers, or finds them; otherwise the live one, and that one shows it who else there
    is. `confirmation_window`: a session that is still there goes on. `block_on_durable_send`: a send waits for its
    answer.

    Applications: every other client, from the first, produces, the others consume. `session`: how they work:
    `plain`, `local` or `xa`. `transaction_size`: messages of a transaction. `volatile_messages`: of each producer so
    many are not durable, the first ones. `duplicate_detection`: messages have duplicate ids. `remembers`: a consumer
    keeps a record of what it has handled, and undoes nothing; otherwise it undoes what was rolled back, or may have
    been. `application_level`: an application fails over by itself: its listener makes a new connection.

    Applications that depart from the recipe: `trusts_unknown`: what was unblocked is taken for done;
    `retries_duplicates`: a transaction that is refused for a duplicate is tried again; `regroups`: what is tried again
    is put together in other transactions.

    `bug_commit_timeout_is_plain_error` (AR-23): a commit that timed out leaves the session as it was.
    """

    reconnect_attempts: FromMinusOne = -1
    initial_connect_attempts: FromMinusOne = -1
    retry_multiplier_percent: int = 100
    max_retry_us: int = 2 * SECOND_US
    server_list: bool = False
    confirmation_window: bool = False
    block_on_durable_send: bool = True
    session: Literal["plain", "local", "xa"] = "local"
    transaction_size: int = 2
    volatile_messages: OrZero = 0
    duplicate_detection: bool = True
    remembers: bool = True
    application_level: bool = False
    trusts_unknown: bool = False
    retries_duplicates: bool = False
    regroups: bool = False
    bug_commit_timeout_is_plain_error: bool = False
