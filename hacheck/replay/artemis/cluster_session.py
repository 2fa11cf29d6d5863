"""What the plug-ins of Artemis and HornetQ begin with: configured servers, proxies before them, and a client."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from hacheck.replay.artemis import jars
from hacheck.replay.artemis.broker_kind import ARTEMIS, BrokerKind
from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.wire import CoreReader
from hacheck.replay.model_run import ModelRun
from hacheck.replay.processes import ProcessGroup
from hacheck.replay.recording import Recording
from hacheck.replay.tcp_proxies import TcpProxies
from hacheck.replay.traffic import Traffic


def missing() -> str | None:
    """Why no run can be carried out on these brokers here, with what to install; `None`, if it can."""
    if not sys.platform.startswith("linux"):
        return "runs are carried out on brokers on Linux only: who calls whom is read from /proc"
    return jars.missing()


def unmapped(run: ModelRun, only_with: Mapping[str, str]) -> str | None:
    """The setting to which servers cannot be brought; `only_with`: of each the value that runs must have."""
    for name, value in only_with.items():
        if run.settings.get(name) != value:
            return f"only runs with {name} = {value} are carried out, and this one has {run.settings.get(name)}"
    return None


@contextmanager
def started(
    recording: Recording, members: Sequence[int], *, shared: bool = False, kind: BrokerKind = ARTEMIS
) -> Iterator[tuple[Brokers, Traffic]]:
    """A cluster of these servers, none of them started, whose packets nothing holds. When it is left, none of its
    processes runs. Errors: `EnvironmentLacks`."""
    folder = recording.folder / "classes"
    classes = jars.programs(kind).unpacked(folder)
    with ProcessGroup() as processes:
        brokers = Brokers(recording.folder / "logs", members, classes, processes, shared=shared, kind=kind)
        traffic = Traffic(lambda message: False, recording.message)
        traffic.failures_wait = False
        proxies = TcpProxies(traffic, brokers.ports(), processes.process_ids, CoreReader, follow=True)
        brokers.before_end = proxies.shut
        try:
            brokers.folder.mkdir(parents=True)
            brokers.start_client()
            yield brokers, traffic
        finally:
            brokers.close()
            proxies.close()
            shutil.rmtree(folder, ignore_errors=True)
