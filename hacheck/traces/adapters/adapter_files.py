"""Reads an adapter from its TOML. Whatever is wrong with it is reported with the line, and what to write instead."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from hacheck.traces.adapters.data_rules import DataRules
from hacheck.traces.adapters.data_tables import data_rules
from hacheck.traces.adapters.description import Adapter, EventRule, FieldRule, JsonPaths, LineRule, NothingRule
from hacheck.traces.adapters.time_stamps import FORMS, is_form
from hacheck.traces.findings import TracesError
from hacheck.traces.records import FieldType, Order
from hacheck.wording import did_you_mean

SHIPPED = resources.files("hacheck.traces.adapters") / "shipped"
"""Where the adapters are that come with hacheck."""

TYPES = {kind.value: kind for kind in FieldType}
CLOCK_BACK_MS_MAX = 1_000_000_000
TABLES = ("files", "line", "nodes", "event", "nothing", "data")
PATHS = ("time", "time_else", "text", "node", "event", "fields", "trace_id", "seq", "message", "causes")


def shipped_names() -> list[str]:
    """The names of the adapters that come with hacheck."""
    return sorted(item.name.removesuffix(".toml") for item in SHIPPED.iterdir() if item.name.endswith(".toml"))


def load(name: str) -> Adapter:
    """The adapter of a name, or in a file. Errors: `TracesError`."""
    if name in shipped_names():
        text = (SHIPPED / f"{name}.toml").read_text(encoding="utf-8")
        return from_toml(text, name)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = did_you_mean(name, shipped_names(), most=1, quote="")
        hint = near or f"there are: {', '.join(shipped_names())}; or give a .toml file"
        raise TracesError(f"no adapter {name!r}, and no file of that name", hint) from None
    except UnicodeDecodeError:
        raise TracesError(f"{name}: not UTF-8 text", "an adapter is a text in TOML") from None
    except OSError as error:
        raise TracesError(f"{name}: cannot be read: {error.strerror}") from None
    return from_toml(text, name)


def from_toml(text: str, place: str) -> Adapter:
    """The adapter that a text describes. Errors: `TracesError` at the first thing that is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        at = where[1] if where else text.count("\n") + 1
        reason = str(error).partition(" (at")[0]
        raise TracesError(
            f"{place}:{at}: not TOML: {reason}", "docs/adapters.md has an example: hacheck explain adapters"
        ) from None
    return _Loading(text, place).adapter(content)


class _Loading:
    """Reads one text; knows where its tables and keys stand."""

    def __init__(self, text: str, place: str) -> None:
        self._lines = text.splitlines()
        self._place = place

    def adapter(self, content: Mapping[str, Any]) -> Adapter:
        self._keys(content, ("name", "about", "source", "format", "order", "beside", *TABLES), "", 0)
        form = self._text(content, "format", "", 0, "text")
        if form not in ("text", "json", "otlp"):
            self._wrong(f"format {form!r}", "write text, json or otlp", "", 0, "format")
        order = self._text(content, "order", "", 0, Order.PER_NODE.value)
        if order not in {item.value for item in Order}:
            self._wrong(f"order {order!r}", "write total or per_node", "", 0, "order")
        line = self._table(content, "line")
        otlp, form = form == "otlp", "text" if form == "text" else "json"
        if otlp:
            shared = {"time": "time", "times": "epoch_ns", "node": "resource.host.name", "text": "body"}
            line = {**shared, **line}
        files = self._table(content, "files")
        self._keys(files, ("name", "path", "node"), "files", 0)
        if not {"name", "path"} & set(files):
            self._wrong("[files] has neither name nor path", "say how logs are called: name = '…'", "files", 0, "name")
        paths = self._paths(line, otlp=otlp) if form == "json" else None
        of_text = "text" if form == "text" or (paths is not None and paths.text) else "json"
        events = tuple(self._event(item, at, of_text) for at, item in enumerate(self._tables(content, "event")))
        nothing = tuple(self._nothing(item, at) for at, item in enumerate(self._tables(content, "nothing")))
        if not events and not (paths and paths.any_event):
            self._wrong("an adapter without an event", "write an [[event]]", "", 0, "name")
        adapter = Adapter(
            name=self._text(content, "name", "", 0),
            about=self._text(content, "about", "", 0, ""),
            source=self._text(content, "source", "", 0, ""),
            order=Order(order),
            files=self._pattern(files, "name", "files", 0) if "name" in files else None,
            paths=self._pattern(files, "path", "files", 0) if "path" in files else None,
            line=self._line(line, form),
            json=paths,
            events=events,
            nothing=nothing,
            node=self._text(files, "node", "files", 0) if "node" in files else None,
            beside=self._beside(content),
            nodes=self._nodes(content),
        )
        self._types_agree(adapter)
        return replace(adapter, data=self._data(content, adapter))

    def _nodes(self, content: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """What logs call nodes, and what they are called in records."""
        found = self._table(content, "nodes") if "nodes" in content else {}
        for name, node in found.items():
            if not isinstance(node, str) or not node:
                hint = 'write the name that it has in records: lb1 = "LB-1"'
                self._wrong(f"node {name} is {node!r}", hint, "nodes", 0, name)
        return tuple(found.items())

    def _data(self, content: Mapping[str, Any], adapter: Adapter) -> DataRules | None:
        """What the table `data` says, if there is one; its events and fields must be there."""
        if "data" not in content:
            return None
        found = data_rules(self._table(content, "data"), adapter)
        if isinstance(found, DataRules):
            return found
        key, message, hint = found
        self._wrong(message, hint, "data", 0, key)
        raise AssertionError("wrong raises")

    def _beside(self, content: Mapping[str, Any]) -> tuple[Adapter, ...]:
        """The adapters of files that may stand beside the logs: those that come with hacheck, or in files beside this
        one. Errors: `TracesError`, for one that has others beside it, too."""
        names = content.get("beside", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self._wrong("beside is not a list of names", 'write beside = ["operator"]', "", 0, "beside")
        found = []
        for name in names:
            path = Path(self._place).parent / name
            one = load(str(path) if path.is_file() else name)
            if one.beside:
                self._wrong(f"{name} has adapters beside it, too", "list them all here", "", 0, "beside")
            found.append(one)
        return tuple(found)

    def _line(self, line: Mapping[str, Any], form: str) -> LineRule:
        texts = ("head", "continuation", "time", "zone", "clock_back_ms", "complete")
        of_json = ("zone", "clock_back_ms", "times", "any_event", "any_order", *PATHS)
        self._keys(line, texts if form == "text" else of_json, "line", 0)
        key = "time" if form == "text" else "times"
        times = line.get(key, "iso")
        times = [times] if isinstance(times, str) else times
        if not isinstance(times, list) or not all(isinstance(item, str) and is_form(item) for item in times):
            form_hint = (
                f"write {', '.join(FORMS)}, or letters of strptime with a day in them, such as %Y-%m-%d %H:%M:%S; "
            )
            form_hint += "where lines show no day, put it before each of them"
            self._wrong(f"{key} {times!r}", form_hint, "line", 0, key)
        zone = self._text(line, "zone", "line", 0, "UTC")
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, KeyError):
            self._wrong(f"no time zone {zone!r}", "write UTC, or a name such as Europe/Berlin", "line", 0, "zone")
        back = line.get("clock_back_ms", 0)
        if not isinstance(back, int) or isinstance(back, bool) or not 0 <= back <= CLOCK_BACK_MS_MAX:
            hint = f"write a whole number of milliseconds, up to {CLOCK_BACK_MS_MAX}"
            self._wrong(f"clock_back_ms {back!r}", hint, "line", 0, "clock_back_ms")
        head = continuation = None
        if form == "text":
            given = dict(line) | {
                "head": self._text(line, "head", "line", 0).removeprefix("^")
            }  # it begins there anyhow
            head = self._pattern(given, "head", "line", 0)
            if "time" not in head.groupindex:
                self._wrong("head has no group (?P<time>…)", "put one around the time stamp", "line", 0, "head")
            continuation = self._pattern(line, "continuation", "line", 0) if "continuation" in line else None
        any_order = line.get("any_order", False)
        if not isinstance(any_order, bool):
            self._wrong(f"any_order {any_order!r}", "write true or false", "line", 0, "any_order")
        complete = self._text(line, "complete", "line", 0) if "complete" in line else None
        if complete is not None and (head is None or complete not in head.groupindex):
            hint = f"write a group (?P<{complete}>…) in head, which events ask for with where"
            self._wrong(f"head has no group {complete!r}", hint, "line", 0, "complete")
        return LineRule(head, continuation, tuple(times), zone, back * 1_000_000, any_order, complete)

    def _paths(self, line: Mapping[str, Any], *, otlp: bool) -> JsonPaths:
        found = {name: tuple(path.split(".")) for name in PATHS if (path := self._text(line, name, "line", 0, ""))}
        anything = line.get("any_event", False)
        if not isinstance(anything, bool):
            self._wrong(f"any_event {anything!r}", "write true or false", "line", 0, "any_event")
        if anything and "event" not in found:
            self._wrong("any_event without a path of `event`", "say where events are named", "line", 0, "any_event")
        return JsonPaths(**found, any_event=anything, otlp=otlp)

    def _event(self, item: Mapping[str, Any], at: int, form: str) -> EventRule:
        self._keys(item, ("name", "about", "has", "pattern", "where", "whole", "fields"), "event", at)
        name = self._text(item, "name", "event", at)
        pattern, has = None, item.get("has", [])
        whole = item.get("whole", False)
        if not isinstance(whole, bool):
            self._wrong(f"whole {whole!r}", "write true or false", "event", at, "whole")
        has = [has] if isinstance(has, str) else has
        if not isinstance(has, list) or not all(isinstance(word, str) and word for word in has):
            self._wrong(f"has {has!r}", "write a text, or a list of texts", "event", at, "has")
        if form == "text":
            pattern = self._pattern(item, "pattern", "event", at, re.DOTALL if whole else 0)
        fields = item.get("fields", {})
        if not isinstance(fields, dict):
            self._wrong("fields is not a table", 'write fields = { old = "string" }', "event", at, "fields")
        rules = tuple(self._field(key, value, at, pattern) for key, value in fields.items())
        if pattern is not None:
            self._every_group_is_read(pattern, {*fields, "node"}, at)
        about = self._text(item, "about", "event", at, "")
        return EventRule(name, about, tuple(has), pattern, self._where(item, "event", at), whole, rules)

    def _every_group_is_read(self, pattern: re.Pattern[str], read: set[str], at: int) -> None:
        """A named group that no field takes would be left out of the record without a word, and a trace would conform
        whatever stands there. Groups that the pattern itself refers to are for it alone."""
        for name in pattern.groupindex:
            if name not in read and f"(?P={name})" not in pattern.pattern and f"(?({name})" not in pattern.pattern:
                hint = f'add fields.{name} = "int" (or string, bool, …); a group that is no field is written (?:…)'
                self._wrong(f"group {name} of the pattern is in no field", hint, "event", at, "pattern")

    def _field(self, name: str, given: object, at: int, pattern: re.Pattern[str] | None) -> FieldRule:
        table: Mapping[str, Any] = given if isinstance(given, dict) else {}
        if isinstance(given, str):
            table = {"type": given}
        self._keys(table, ("type", "about", "each", "numbered", "path", "clock"), "event", at)
        kind = str(table.get("type"))
        if kind not in TYPES:
            self._wrong(f"field {name} has no type", f"there are: {', '.join(TYPES)}", "event", at, name)
        each = self._pattern(table, "each", "event", at) if "each" in table else None
        if each is not None and TYPES[kind] not in (FieldType.INTS, FieldType.STRINGS):
            self._wrong(f"field {name} is {kind}, which holds one value", "write ints or strings", "event", at, name)
        path = tuple(self._text(table, "path", "event", at, "").split(".")) if "path" in table else ()
        numbered = table.get("numbered", False) is True
        if pattern is not None and each is None and not numbered and name not in pattern.groupindex:
            hint = "put one around its value"
            if path:
                hint = 'for a value at a path leave `text` out of [line], and name events by `where = { msg = ["…"] }`'
            self._wrong(f"the pattern has no group (?P<{name}>…)", hint, "event", at, name)
        clock = table.get("clock", False) is True
        if clock and TYPES[kind] is not FieldType.INT:
            self._wrong(f"field {name} is a time and {kind}", "write int: nanoseconds since 1970", "event", at, name)
        return FieldRule(name, TYPES[kind], str(table.get("about", "")), each, numbered, path, clock)

    def _nothing(self, item: Mapping[str, Any], at: int) -> NothingRule:
        self._keys(item, ("name", "about", "pattern", "where"), "nothing", at)
        name, about = self._text(item, "name", "nothing", at), self._text(item, "about", "nothing", at, "")
        return NothingRule(name, about, self._pattern(item, "pattern", "nothing", at), self._where(item, "nothing", at))

    def _where(self, item: Mapping[str, Any], table: str, at: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
        where = item.get("where", {})
        if not isinstance(where, dict):
            self._wrong("where is not a table", 'write where = { category = "Election" }', table, at, "where")
        wanted = {key: [value] if isinstance(value, str) else value for key, value in dict(where).items()}
        if not all(
            isinstance(value, list) and all(isinstance(word, str) for word in value) for value in wanted.values()
        ):
            self._wrong("where", 'write where = { category = "Election" }, or a list of words', table, at, "where")
        return tuple((key, tuple(value)) for key, value in wanted.items())

    def _types_agree(self, adapter: Adapter) -> None:
        types: dict[str, tuple[FieldType, str]] = {
            field.name: (field.type, event.name)
            for other in adapter.beside
            for event in other.events
            for field in event.fields
        }
        for at, event in enumerate(adapter.events):
            for field in event.fields:
                kind, first = types.setdefault(field.name, (field.type, event.name))
                if kind is not field.type:
                    message = f"field {field.name} is {field.type.value}, and {kind.value} in the event {first}"
                    self._wrong(message, "a field has one type; rename one of them", "event", at, field.name)

    def _tables(self, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        found = content.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            self._wrong(f"{key} is not a list of tables", f"write [[{key}]]", "", 0, key)
        return list(found)

    def _table(self, content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = content.get(key)
        if not isinstance(found, dict):
            self._wrong(f"no table [{key}]", f"write [{key}]", "", 0, key)
        return dict(found or {})

    def _keys(self, table: Mapping[str, Any], known: Iterable[str], name: str, at: int) -> None:
        for key in table:
            if key not in (names := tuple(known)):
                hint = did_you_mean(key, names, most=1, quote="") or f"there are: {', '.join(names)}"
                self._wrong(f"unknown key {key!r}", hint, name, at, key)

    def _text(self, table: Mapping[str, Any], key: str, name: str, at: int, otherwise: str | None = None) -> str:
        found = table.get(key, otherwise)
        if not isinstance(found, str) or (otherwise is None and not found):
            here = f"[{name}] " if name else ""
            self._wrong(f"{here}has no text {key}".strip(), f'write {key} = "…"', name, at, key)
        return str(found)

    def _pattern(self, table: Mapping[str, Any], key: str, name: str, at: int, flags: int = 0) -> re.Pattern[str]:
        text = self._text(table, key, name, at)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                return re.compile(text, flags)
        except FutureWarning as warning:
            hint = "write \\ before [ - & ~ | that are meant as such within [ ]"
            self._wrong(f"{key} may mean something else to another Python: {warning}", hint, name, at, key)
            raise AssertionError("wrong raises") from None
        except (re.error, OverflowError, RecursionError) as error:
            self._wrong(f"{key} is not a regular expression: {error}", "single quotes keep \\ as it is", name, at, key)
            raise AssertionError("wrong raises") from None

    def _wrong(self, message: str, hint: str, table: str, at: int, key: str) -> None:
        raise TracesError(f"{self._place}:{self._line_of(table, at, key)}: {message}", hint)

    def _line_of(self, table: str, at: int, key: str) -> int:
        """The line of a key in the `at`-th table of a name, or at the top; that of the table where it has none."""
        start = 0
        if table:
            heads = self._heads(table)
            start = heads[min(at, len(heads) - 1)] + 1 if heads else 0
        for number in range(start, len(self._lines)):
            line = self._lines[number]
            if re.match(r"\s*\[", line):
                break
            if re.search(rf'(^|[\s{{,."]){re.escape(key)}"?\s*=', line):
                return number + 1
        heads = [] if table else self._heads(key)
        return heads[0] + 1 if heads else max(start, 1)

    def _heads(self, table: str) -> list[int]:
        """The indices of the lines on which the tables of a name begin."""
        head = re.compile(rf"\s*\[+\s*{re.escape(table)}\s*\]")
        return [number for number, line in enumerate(self._lines) if head.match(line)]
