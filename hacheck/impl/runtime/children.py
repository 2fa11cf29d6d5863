"""A member as its keeper sees it: a child process, what it says of itself, and what is done to it."""

from __future__ import annotations

import asyncio
import signal

import msgspec

from hacheck.impl.node import Name
from hacheck.impl.runtime.folder import Folder
from hacheck.impl.runtime.process import HALTED, Report, command
from hacheck.impl.runtime.relays import Network

RUNNING, PAUSED, DOWN = "running", "paused", "down"
READY_SECONDS_MAX = 60.0
END_SECONDS_MAX = 2.0
AGAIN_SECONDS = 1.0
"""A member that has ended itself is started again after so long."""


class Child:
    """One member. A child that nobody has waited for keeps its number, so a signal to it never hits another process.

    `wanted`: it is to run; one that ends itself is then started again. `why`: what it ended of.
    """

    def __init__(self, name: Name, folder: Folder, port: int, network: Network) -> None:
        self.name, self.folder, self.port, self.network = name, folder, port, network
        self.state, self.why = DOWN, "was not started"
        self.incarnation = 0
        self.wanted = False
        self._process: asyncio.subprocess.Process | None = None  # of the latest incarnation
        self._gone = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None  # or nobody would hold it

    @property
    def pid(self) -> int:
        """The number of its process; 0: it is down."""
        return self._process.pid if self._process is not None and self.state != DOWN else 0

    async def start(self) -> str:
        """Starts it, and waits until it serves. Returns why it does not."""
        self.wanted = True
        self._gone.clear()
        with self.folder.output(self.name).open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *command(self.folder.place, self.name, self.port),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        self.state, self.why = RUNNING, ""
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._watching = asyncio.create_task(self._watch(self._process, ready))
        try:
            return await asyncio.wait_for(asyncio.shield(ready), READY_SECONDS_MAX)
        except TimeoutError:
            return f"{self.name} does not say that it is ready: see {self.folder.output(self.name)}"

    async def _watch(self, process: asyncio.subprocess.Process, ready: asyncio.Future[str]) -> None:
        """Hears what it says until it is gone."""
        assert process.stdout is not None
        report = Report("")
        async for line in process.stdout:
            report = msgspec.json.decode(line, type=Report)
            if report.what == "ready":
                self.incarnation = report.incarnation
                self.network.ports[self.name] = report.port
                if not ready.done():
                    ready.set_result("")
        code = await process.wait()
        self.network.ports.pop(self.name, None)
        self.folder.process(self.name).unlink(missing_ok=True)
        self.state, self.why = DOWN, _why(report, code)
        self._gone.set()
        if not ready.done():
            ready.set_result(f"{self.name}: {report.why}" if report.what == "refused" else f"{self.name} {self.why}")
        elif code == HALTED and self.wanted:
            await asyncio.sleep(AGAIN_SECONDS)
            await self._again()

    async def _again(self) -> None:
        """It had ended itself; meanwhile somebody may have started it, or wanted it to stay down."""
        if self.wanted and self.state == DOWN:
            await self.start()

    async def _signal(self, number: int) -> None:
        if self.state != DOWN and self._process is not None:
            self._process.send_signal(number)

    async def kill(self) -> str:
        """`kill -9`. Returns what is wrong."""
        if self.state == DOWN:
            return self._is_down()
        self.wanted = False
        await self._signal(signal.SIGKILL)
        await self._gone.wait()
        return ""

    async def pause(self) -> str:
        """`kill -STOP`. Returns what is wrong."""
        if self.state == DOWN:
            return self._is_down()
        await self._signal(signal.SIGSTOP)
        self.state = PAUSED
        return ""

    async def resume(self) -> str:
        """`kill -CONT`. Returns what is wrong."""
        if self.state == DOWN:
            return self._is_down()
        await self._signal(signal.SIGCONT)
        self.state = RUNNING
        return ""

    async def restart(self) -> str:
        """Starts it again; one that runs is killed first. Returns what is wrong."""
        if self.state != DOWN:
            await self.kill()
        return await self.start()

    async def end(self) -> None:
        """Ends it in order; kills it if it does not."""
        self.wanted = False
        if self.state == DOWN:
            return
        await self._signal(signal.SIGTERM)
        await self._signal(signal.SIGCONT)
        try:
            await asyncio.wait_for(self._gone.wait(), END_SECONDS_MAX)
        except TimeoutError:
            await self.kill()

    def _is_down(self) -> str:
        return f"{self.name} is down: {self.why}"


def _why(report: Report, code: int) -> str:
    if report.what not in ("", "ready"):
        return f"{report.what}: {report.why}"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return "has ended" if code == 0 else f"has ended with exit code {code}"
