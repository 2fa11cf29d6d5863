"""Systems in any language: a process reads on its standard input what to do, and writes on its output what happened.

A line of JSON each way, a request and its answer in turn. The first request is `{"hacheck": 1}`, the version of what is
described here, and the answer the same. Then each run is

    {"do": "start"}                                      starts the system anew
    {"do": "acquire", "arguments": {"c": "Client-1"}}    an action that `drives` names
    {"do": "wait", "seconds": 1.0}                       lets time pass
    {"do": "stop"}                                       ends the system

and an answer is

    {"done": true, "events": [{"node": "Server-1", "event": "taken", "fields": {"number": 1}}]}

with the lines written since the answer before. `done` is `false` where an action could not be done after all. `events`,
and of an event `node`, `fields` and `at` (when it was written, in seconds), may be left out. A process ends when its
input does. What it writes to its standard error is shown where it fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hacheck.testing.adapter import Adapter, Event
from hacheck.testing.json_process import ProcessFailure, Talk
from hacheck.testing.tested_model import folder_of
from hacheck.traces.conformance.record_encoding import NO_NODE

__all__ = ["ProcessAdapter", "ProcessFailure"]

VERSION = 1
"""Of the lines above."""

_TALKS: dict[type[Adapter], Talk] = {}
"""The processes that there are."""


class ProcessAdapter(Adapter):
    """A system under test that is a process. To be subclassed, with a `command` and with the names of the actions that
    it `drives`; nothing else has to be written in Python.

    One process serves all runs of a test: it gets `start` again after `stop`. One that has ended by then, or with
    `once`, is started anew. It leads a process group of its own, which is killed when the test is over.
    """

    command: Sequence[str] = ()
    """The program and its arguments. It runs in the folder of the adapter's file."""

    environment: Mapping[str, str] = {}
    """Variables besides those of the test."""

    answer_seconds: float = 10.0
    """How long an answer may take; that to `wait` this much longer than what is waited."""

    once: bool = False
    """Whether a process can do one run only."""

    def start(self) -> None:
        """Starts the process, if there is none, and the system in it. Errors: `ProcessFailure`."""
        self._shown: list[Event] = []
        kind = type(self)
        if kind in _TALKS and not _TALKS[kind].alive:
            kind.finish()
        if kind not in _TALKS:
            if isinstance(self.command, str) or not self.command:
                raise ProcessFailure(f"{kind.__name__}.command is the program and its arguments: a list of words")
            talk = _TALKS[kind] = Talk(self.command, folder_of(kind), self.environment)
            if talk.ask({"hacheck": VERSION}, self.answer_seconds) != {"hacheck": VERSION}:
                raise talk.failure(f"it does not answer with {json.dumps({'hacheck': VERSION})}")
        self._request({"do": "start"})

    def act(self, action: str, arguments: Mapping[str, Any]) -> bool:
        """Has the process do an action. Errors: `ProcessFailure`."""
        return self._request({"do": action, "arguments": dict(arguments)})

    def wait(self, seconds: float) -> None:
        """Has it let time pass. Errors: `ProcessFailure`."""
        self._request({"do": "wait", "seconds": seconds}, seconds)

    def events(self) -> Iterable[Event]:
        """What its answers have shown."""
        shown, self._shown = self._shown, []
        return shown

    def stop(self) -> None:
        """Has it end the system. Errors: `ProcessFailure`."""
        talk = _TALKS.get(type(self))
        if talk is None or talk.failed:
            self.finish()
            return
        self._request({"do": "stop"})
        if self.once:
            self.finish()

    @classmethod
    def finish(cls) -> None:
        """Ends the process and all that it started."""
        talk = _TALKS.pop(cls, None)
        if talk is not None:
            talk.end()

    def _request(self, request: Mapping[str, Any], longer: float = 0.0) -> bool:
        """Whether a request could be done. Errors: `ProcessFailure`."""
        talk = _TALKS[type(self)]
        answer = talk.ask(request, self.answer_seconds + longer)
        done = answer.get("done") if isinstance(answer, dict) else None
        if not isinstance(done, bool):
            raise talk.failure("its answer has no `done` that is true or false")
        assert isinstance(answer, dict), "it has a `done`"
        if not done and "arguments" not in request:
            raise talk.failure("it says that this was not done, which it may say of actions only")
        unknown = sorted(set(answer) - {"done", "events"})
        if unknown:
            raise talk.failure(f"its answer has {', '.join(unknown)}; an answer has `done` and `events`")
        shown = answer.get("events", [])
        if not isinstance(shown, list):
            raise talk.failure("`events` of its answer is not a list")
        self._shown += [_event(talk, one) for one in shown]
        return done


def _event(talk: Talk, one: object) -> Event:
    """An event of an answer. Errors: `ProcessFailure`."""
    if not isinstance(one, dict):
        raise talk.failure(f"an event is an object, not {json.dumps(one)}")
    unknown = sorted(set(one) - {"node", "event", "fields", "at"})
    if unknown:
        raise talk.failure(f"an event has {', '.join(unknown)}; it has `node`, `event`, `fields` and `at`")
    node, event, fields = one.get("node", NO_NODE), one.get("event"), one.get("fields", {})
    if not isinstance(event, str) or not event:
        raise talk.failure("an event has no name under `event`")
    if not isinstance(node, str) or not node:
        raise talk.failure(f"`node` of `{event}` is not a name")
    if not isinstance(fields, dict):
        raise talk.failure(f"`fields` of `{event}` is not an object")
    at = one.get("at")
    if at is not None and (not isinstance(at, int | float) or isinstance(at, bool)):
        raise talk.failure(f"`at` of `{event}` is not a number")
    return Event(node, event, fields, at)
