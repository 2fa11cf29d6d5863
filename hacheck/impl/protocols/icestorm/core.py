"""What the parts of a replica share: the process, its standing, the database, the settings, and each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hacheck.impl.kit.rpc import Caller
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.replica_state import ReplicaState
from hacheck.impl.protocols.icestorm.store import Store

if TYPE_CHECKING:
    from hacheck.impl.protocols.icestorm.deliveries import Deliveries
    from hacheck.impl.protocols.icestorm.election import Election
    from hacheck.impl.protocols.icestorm.group_formation import GroupFormation
    from hacheck.impl.protocols.icestorm.service import Service
    from hacheck.impl.protocols.icestorm.updates import Updates


class Core:
    """The shared things of one replica; its parts are put in by `replica`."""

    __slots__ = (
        "election",
        "forming",
        "idents",
        "member",
        "options",
        "process",
        "publishing",
        "service",
        "standing",
        "store",
        "updating",
    )

    election: Election
    forming: GroupFormation
    updating: Updates
    service: Service
    publishing: Deliveries

    def __init__(self, member: Name, process: Caller, standing: ReplicaState, store: Store, options: Options) -> None:
        self.member = member
        self.process = process
        self.standing = standing
        self.store = store
        self.options = options
        self.idents = {name: ident for ident, name in standing.nodes.items()}
