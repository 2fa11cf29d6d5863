"""What `hacheck audit --show` adds: each setting with its place, each default with its source, what is not known."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hacheck.audit.audit import Audit
from hacheck.audit.configuration import Node
from hacheck.cli.console import visible
from hacheck.wording import plural


def show(console: Console, found: Audit) -> None:
    """Every setting, node by node; what the spec became; and what is in the files besides."""
    becomes: dict[str, list[str]] = {}
    for of_spec, names in found.model.made_of.items():
        for name in names:
            becomes.setdefault(name, []).append(of_spec)
    for node in found.configuration.nodes:
        in_spec = next((one for one, name in found.names.items() if name == node.name), None)
        role = f", {node.role}" if node.role else ""
        known = f", {in_spec} of the spec" if in_spec else ""
        console.print(Text.assemble((visible(node.name), "node"), (f"{role}{known}", "quiet")))
        for line in _lines(node, becomes):
            console.print(Padding(line, (0, 0, 0, 2)))
    console.print(Text.assemble(("the spec ", "head"), found.model.mode.spec, ("  is explored with", "quiet")))
    settings = ", ".join(f"{name} = {value}" for name, value in sorted(found.model.settings.items()))
    console.print(Padding(Text(settings), (0, 0, 0, 2)))
    passed = found.configuration.passed
    if passed:
        console.print(Text(f"not known to the spec: {plural(len(passed), 'value')}", "head"))
        for one in passed:
            value = f" = {visible(one.value)}" if one.value else ""
            console.print(
                Padding(
                    Text.assemble((f"{visible(one.file)}:{one.line}  ", "name"), f"{visible(one.path)}{value}"),
                    (0, 0, 0, 2),
                )
            )
    files = dict.fromkeys(one.file for one in found.configuration.ignored)
    for file in files:
        paths = dict.fromkeys(one.path for one in found.configuration.ignored if one.file == file)
        console.print(Text.assemble(("without bearing on availability  ", "head"), (visible(file), "name")))
        console.print(Padding(Text(visible(", ".join(paths)), "quiet"), (0, 0, 0, 2)))
    console.print()


def _lines(node: Node, becomes: dict[str, list[str]]) -> Iterator[Text]:
    """A line for each setting that a file has or that has a default."""
    for value in node.values.values():
        if value.line is None and not value.text:
            continue
        line = Text.assemble(f"{_short(value.path)} = ", (visible(value.text) or "not set", "name"))
        if value.line is None:
            line.append(f"  default{f', {visible(value.source)}' if value.source else ''}", "quiet")
        else:
            line.append(f"  {visible(value.place)}", "quiet")
        if value.unknown:
            line.append(f"  `{visible(value.unknown)}` is not known to the reader: the default counts", "warn")
        if value.name in becomes:
            line.append(f"  -> {', '.join(becomes[value.name])}", "action")
        yield line


def _short(path: str) -> str:
    """The end of a path, in the words of the file."""
    parts = [part for part in path.split("/") if part not in ("*", "**")]
    return visible("/".join(parts[-3:]))
