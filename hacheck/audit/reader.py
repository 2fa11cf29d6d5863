"""Readers: what a product's configuration files mean for a spec, as a TOML file says it; see `docs/audit.md`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from hacheck.api.errors import InputError, near_names
from hacheck.audit.expressions import BadExpression, names_in
from hacheck.audit.formats import FormatName

FindingKind: TypeAlias = Literal[
    "split_brain", "acknowledged_loss", "stale_promoted", "never_recovers", "contradiction"
]
SettingKind: TypeAlias = Literal[
    "flag", "number", "duration", "size", "text", "present", "secret", "count", "joined", "words", "named"
]

READERS = Path(__file__).parent / "readers"

SECONDS: Mapping[str, float] = {
    "": 1, "us": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "h": 3600,
    "d": 86400,
}  # fmt: skip
"""Units of time."""


class FileKind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of file. `names`: patterns of file names; `signature`: paths, one of which a file of this kind has.
    `nodes`: a path, each entry of which is a node, where one file describes several. `name`: paths of what a node calls
    itself. `role`: an expression; `rank`: an expression; the nodes are `first`,
    `second`, … by its falling value. `includes`: directives that name files to be
    read in their place. `companion`: of no node of its own, but of the one whose other files lie in the same folder."""

    format: FormatName
    signature: tuple[str, ...]
    names: tuple[str, ...] = ("*",)
    nodes: str = ""
    name: tuple[str, ...] = ()
    role: str = ""
    rank: str = ""
    includes: tuple[str, ...] = ()
    companion: bool = False


class VersionDefault(Struct, frozen=True, forbid_unknown_fields=True):
    """A default from a version on."""

    since: str
    value: bool | int | float | str


class SettingRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A setting: where it stands, what it is, what is assumed where it is absent and who says so.

    `path`: the paths at which it may stand, the first that is there counts. `file`: the kind of file, by default the
    first. `unit`: of a number without one; durations come out in `to`. `roles`: only nodes of these have it. `values`:
    words of the file and what they mean; `tries`: values to try in search of a change; `fixed`: it is never changed. A
    setting of the kind `count` is how many entries, or words between commas, there are; of `words` the words themselves
    or the entries of a list, in alphabetical order; of `named` the one that the text at `by` names.
    """

    path: tuple[str, ...]
    kind: SettingKind = "text"
    file: str = ""
    default: bool | int | float | str | None = None
    defaults: tuple[VersionDefault, ...] = ()
    source: str = ""
    means: str = ""
    unit: str = ""
    to: str = "s"
    roles: tuple[str, ...] = ()
    values: dict[str, bool | int | float | str] = {}
    tries: tuple[str, ...] = ()
    by: str = ""
    fixed: bool = False


class Remedy(Struct, frozen=True, forbid_unknown_fields=True):
    """What helps beyond the settings of these files: a sentence, and, where the spec can be explored so, its
    settings. `when`: an expression, it helps only where that is true."""

    says: str
    when: str = "True"
    set: dict[str, str] = {}
    source: str = ""


class TimingRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A spec that has time. `spec`: a shipped one, or a file of the examples (`timing/lease.ha`). `tick`: seconds of a
    tick, an expression. `set`: its settings, as expressions over values in seconds, which are divided by `tick`: those
    that limit what must not be longer are rounded down, those in `up` rounded up. `vary`: settings whose room is
    wanted, each with the lowest and the highest value to try. `property`: what is to hold; `kind`: what a violation
    is."""

    spec: str
    property: str
    set: dict[str, str]
    tick: str = "1"
    up: tuple[str, ...] = ()
    vary: dict[str, tuple[int, int]] = {}
    kind: FindingKind = "split_brain"
    says: str = ""


class Mode(Struct, frozen=True, forbid_unknown_fields=True):
    """A way to run the product, and the spec that it amounts to.

    `when`: an expression; the first mode counts where it is true; `needs` says it in words, for files that lack it.
    `total`: the name in `scope` that limits all faults together. `nodes`: for each kind of node of the spec the roles,
    or kinds of files, whose nodes it stands for, in order, or `=NAME` for a name. `scope`: faults and how many.
    `findings`: the properties, and what a violation of each is. `set`: settings of the spec, as expressions.
    `assumes`: settings of the spec that no file has, with the sentence that they stand for.
    """

    name: str
    spec: str
    findings: dict[str, FindingKind]
    when: str = "True"
    needs: str = ""
    says: str = ""
    check: str = ""
    nodes: dict[str, tuple[str, ...]] = {}
    scope: dict[str, int] = {}
    total: str = ""
    set: dict[str, str] = {}
    fixed: dict[str, str] = {}
    assumes: dict[str, str] = {}
    remedies: tuple[Remedy, ...] = field(default=(), name="remedy")
    timing: TimingRule | None = None


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """What settings of several nodes, or of one, must satisfy. `each`: of each node alone. `says`: what is wrong.
    `kind`: what it is called; `settings`: those to be shown besides the ones that `require` names."""

    require: str
    says: str
    kind: FindingKind = "contradiction"
    settings: tuple[str, ...] = ()
    each: bool = False
    when: str = "True"
    modes: tuple[str, ...] = ()
    source: str = ""
    hint: str = ""


class Refusal(Struct, frozen=True, forbid_unknown_fields=True):
    """Files that are not read yet: `when`, an expression, they are such; the sentence that says what they are."""

    when: str
    says: str
    hint: str = ""


class Reader(Struct, frozen=True, forbid_unknown_fields=True, rename={"name": "product"}):
    """A product: the kinds of its files, its settings, its modes, and the rules that settings must satisfy together.
    `versions`: the first and the last one that the defaults are right for. `ignored`: paths that have no bearing on
    availability. `path`: the file of the reader."""

    name: str
    title: str
    file: dict[str, FileKind]
    setting: dict[str, SettingRule]
    mode: tuple[Mode, ...]
    rule: tuple[Rule, ...] = ()
    refusal: tuple[Refusal, ...] = ()
    versions: tuple[str, str] | None = None
    ignored: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    path: str = ""

    def file_kind(self, setting: str) -> str:
        """The kind of file in which a setting stands."""
        return self.setting[setting].file or next(iter(self.file))


def shipped_readers() -> dict[str, Path]:
    """The readers that come with hacheck, by product."""
    return {path.stem: path for path in sorted(READERS.glob("*.toml"))}


def load_reader(path: Path) -> Reader:
    """The reader in a file. Errors: `InputError` with what is wrong and where."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        reader = msgspec.structs.replace(msgspec.convert({**content, "path": str(path)}, Reader), path=str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}", "--reader names a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: is no reader: {error}", "docs/audit.md says what one consists of") from None
    for where, text in _expressions(reader):
        try:
            unknown = sorted(names_in(text) - reader.setting.keys())
        except BadExpression as error:
            raise InputError(f"{path}: {where}: {error}", "docs/audit.md lists what an expression may hold") from None
        if unknown:
            hint = near_names(unknown[0], reader.setting, "declare it: [setting.NAME]")
            raise InputError(f"{path}: {where}: there is no setting `{unknown[0]}`", hint)
    _check_names(path, reader)
    return reader


def _expressions(reader: Reader) -> Iterator[tuple[str, str]]:
    """Each expression of a reader, with where it stands."""
    for name, kind in reader.file.items():
        if kind.role:
            yield f"file.{name}.role", kind.role
        if kind.rank:
            yield f"file.{name}.rank", kind.rank
    for mode in reader.mode:
        yield f"mode {mode.name}: when", mode.when
        for name, text in mode.set.items():
            yield f"mode {mode.name}: set.{name}", text
        for remedy in mode.remedies:
            yield f"mode {mode.name}: remedy: when", remedy.when
        if mode.timing is not None:
            yield f"mode {mode.name}: timing.tick", mode.timing.tick
        for name, text in (mode.timing.set if mode.timing is not None else {}).items():
            yield f"mode {mode.name}: timing.set.{name}", text
    for refusal in reader.refusal:
        yield "refusal: when", refusal.when
    for rule in reader.rule:
        yield "rule: require", rule.require
        yield "rule: when", rule.when


def _check_names(path: Path, reader: Reader) -> None:
    """Errors: `InputError` for a kind of file or a mode that there is not."""
    for name, setting in reader.setting.items():
        if setting.file and setting.file not in reader.file:
            raise InputError(f"{path}: setting.{name}: there is no [file.{setting.file}]", "declare that kind of file")
        if setting.unit and setting.unit not in SECONDS:
            raise InputError(f"{path}: setting.{name}: the unit `{setting.unit}` is not known", "write ms, s, min or h")
    modes = {mode.name for mode in reader.mode}
    for rule in reader.rule:
        if missing := sorted(set(rule.modes) - modes):
            raise InputError(f"{path}: rule `{rule.says}`: there is no mode `{missing[0]}`", f"{', '.join(modes)}")
