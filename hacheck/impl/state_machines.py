"""`python -m hacheck.impl.state_machines > docs/state-machines.md`: draws the tables that the protocols run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.protocols.artemis.client_library.states import CONNECTION
from hacheck.impl.protocols.artemis.colocated.backup_requests import REQUEST
from hacheck.impl.protocols.artemis.lock_manager.states import LOCKED_BROKER
from hacheck.impl.protocols.artemis.replication.states import BROKER as REPLICATED_BROKER
from hacheck.impl.protocols.artemis.shared_store.states import BROKER as SHARED_STORE_BROKER
from hacheck.impl.protocols.fiorano.replicated_states import SERVER as REPLICATED_SERVER
from hacheck.impl.protocols.fiorano.shared_states import SERVER as SHARED_SERVER
from hacheck.impl.protocols.icestorm.replica_state import REPLICA
from hacheck.impl.protocols.qpid.manager import SERVICE
from hacheck.impl.protocols.qpid.operator import OPERATOR
from hacheck.impl.protocols.qpid.status import STATUS
from hacheck.impl.protocols.qpid.transactions import TRANSACTION

TABLES: Mapping[str, tuple[StateTable[Any, Any], ...]] = {
    "IceStorm": (REPLICA,),
    "Qpid": (STATUS, SERVICE, OPERATOR, TRANSACTION),
    "Artemis": (SHARED_STORE_BROKER, REPLICATED_BROKER, LOCKED_BROKER, CONNECTION, REQUEST),
    "Fiorano": (REPLICATED_SERVER, SHARED_SERVER),
}
"""Every state machine of the protocols."""

HEAD = """# State machines of the reference implementation

These diagrams are drawn from the tables that the code runs (`hacheck/impl/kit/state_table.py`); what a table does not
have cannot happen. `python -m hacheck.impl.state_machines > docs/state-machines.md` draws them again."""


def page() -> str:
    """The page with all diagrams, as Markdown."""
    return "\n\n".join((HEAD, *_sections())) + "\n"


def _sections() -> Iterator[str]:
    for protocol, tables in TABLES.items():
        yield f"## {protocol}"
        for table in tables:
            yield f"### {table.title}\n\nSource: {table.source}."
            yield f"```mermaid\n{table.mermaid()}\n```"
            yield from table.in_common()


if __name__ == "__main__":
    sys.stdout.write(page())
