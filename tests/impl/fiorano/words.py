"""The commands of Fiorano's scenarios: what a pair is asked for by hand, and what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hacheck.impl.node import Record
from hacheck.impl.protocols.fiorano import messages
from hacheck.impl.protocols.fiorano.system import REPLICATED, SHARED
from tests.impl.fiorano.pairs import Pair, in_step, sharing
from tests.impl.scenarios import Words, settings_of, value_of


class PairWords(Words):
    """`ask SERVER ACTION`; `has SERVER` lists its objects; `serving` and `locks` say who serves and who holds what."""

    stage: Pair

    def do(self, command: str) -> Iterable[str]:
        verb, _, rest = command.partition(" ")
        match verb:
            case "ask":
                to, _, action = rest.partition(" ")
                self.stage.ask(to, value_of(action, messages))
                return ()
            case "has":
                objects = self.stage.node(rest).repository.objects
                shown = " ".join(name + _shown(value) for name, value in sorted(objects.items()))
                return [f"{rest} has {shown or 'nothing'}"]
            case "serving":
                return [f"serving: {' '.join(self.stage.serving()) or 'nobody'}"]
            case "locks":
                return [f"lock {lock}: {holder}" for lock, holder in self.stage.holders.items()] or ["no lock is held"]
        return super().do(command)

    def shows(self, record: Record) -> str:
        if record.event != "state_change":
            return ""
        return f"{record.fields['new']} by {record.fields['rule']}"

    def answers(self) -> Iterator[str]:
        inbox = self.stage.inbox.setdefault("hand", [])
        for message in inbox:
            if isinstance(message, messages.Answer):
                yield f"{message.request}: {message.outcome}"
        inbox.clear()


def _shown(value: bytes) -> str:
    """A value that an administrator has set, as it is; others are records of the product."""
    return f"={value.decode()}" if value.isalpha() else ""


def begin(command: str) -> PairWords:
    """`pair`, `pair in-step`, `sharing` or `shared`, with settings."""
    kind, *rest = command.split()
    options = settings_of(word for word in rest if "=" in word)
    match kind:
        case "pair":
            stage = in_step(**options) if "in-step" in rest else Pair(REPLICATED, **options)
        case "sharing":
            stage = sharing(**options)
        case "shared":
            stage = Pair(SHARED, **options)
        case _:
            raise ValueError("a scenario begins with a pair")
    words = PairWords(stage, (messages,))
    list(words.news())
    return words
