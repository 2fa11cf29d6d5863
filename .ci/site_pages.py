"""What the site has beside the documents: files of the repository that they refer to, and the command line.

A hook of MkDocs, named in `mkdocs.yml`. A link that leaves `docs` is led to a page below `source/`: a Markdown file as
it is, any other text with its lines numbered, a folder as a list of its files.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SOURCE = "source/"
CLI = "cli.md"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LEXERS = {".py": "python", ".toml": "toml", ".yml": "yaml", ".json": "json"}
UNLISTED = "---\nsearch:\n  exclude: true\n---\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replaces each folder of the navigation, `decisions/`, by its files."""
    config.nav = _unfolded(config.nav or [])
    return config


def _unfolded(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if isinstance(item, str) and item.endswith("/"):
            found += _pages_in(item)
        elif isinstance(item, dict):
            ((title, inside),) = item.items()
            if isinstance(inside, str) and inside.endswith("/"):
                found.append({title: [{Path(one).stem: one} for one in _pages_in(inside)]})
            else:
                found.append({title: _unfolded(inside) if isinstance(inside, list) else inside})
        else:
            found.append(item)
    return found


def _pages_in(folder: str) -> list[str]:
    files = sorted(path for path in (ROOT / "docs" / folder).iterdir() if path.suffix in (".md", ".json"))
    named = [
        f"{folder}{path.name}" if path.suffix == ".md" else f"{SOURCE}docs/{folder}{path.name}.md" for path in files
    ]
    return sorted(named, key=lambda name: (not name.endswith("README.md"), name))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the reference of the command line and every file of the repository that a page refers to."""
    files.append(File.generated(config, CLI, content=command_line()))
    waiting = [(path, path.read_text(encoding="utf-8")) for path in sorted((ROOT / "docs").rglob("*.md"))]
    waiting += [(ROOT / name, "") for name in ("docs/schema", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    seen: set[Path] = set()
    while waiting:
        path, text = waiting.pop()
        targets = [_target(path, link) for _, link, _ in LINK.findall(FENCE.sub("", text))] if text else [path]
        targets += [
            one for target in targets if target and target.is_dir() for one in target.iterdir() if one.is_file()
        ]
        for target in targets:
            if target is None or target in seen or not _is_added(target):
                continue
            seen.add(target)
            content = _page_of(target)
            files.append(File.generated(config, _place(target), content=content))
            if target.suffix == ".md":
                waiting.append((target, content))
    return files


def _target(path: Path, link: str) -> Path | None:
    """The file or folder of the repository that a link of a file leads to."""
    name = link.partition("#")[0]
    if not name or re.match(r"[a-z]+:", name):
        return None
    target = Path(posixpath.normpath(path.parent / name))
    return target if target.exists() and target.is_relative_to(ROOT) else None


def _is_added(target: Path) -> bool:
    inside = target.is_relative_to(ROOT / "docs")
    return (not inside or target.suffix == ".json" or target.is_dir()) and target.suffix not in (".svg", ".png")


def _place(target: Path) -> str:
    """Where the site has a file: one of the documents where it is, another below `source/`."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        return f"{SOURCE}{name}/index.md"
    if not _is_added(target):
        return name.removeprefix("docs/")
    return f"{SOURCE}{name}" if target.suffix == ".md" else f"{SOURCE}{name}.md"


def _page_of(target: Path) -> str:
    """The text of the page of a file or folder."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        inside = sorted(one for one in target.iterdir() if one.is_file() and not one.name.startswith("."))
        return f"# {name}\n\n" + "".join(f"- [{one.name}]({one.name})\n" for one in inside)
    text = target.read_text(encoding="utf-8", errors="replace")
    if target.suffix == ".md":
        return text
    return f'{UNLISTED}# {name}\n\n````{LEXERS.get(target.suffix, "text")} linenums="1"\n{text.rstrip()}\n````\n'


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to where the site has what they name."""
    uri = page.file.src_uri
    source = uri.startswith(SOURCE)
    path = ROOT / uri.removeprefix(SOURCE) if source else ROOT / "docs" / uri
    if path.name == "index.md" and not path.exists():
        path = path.parent / "x"
    here = posixpath.dirname(uri)

    def led(found: re.Match[str]) -> str:
        target = _target(path, found[2])
        if target is None or uri == CLI:
            return found[0]
        # The anchors of lines are made when code is coloured, after MkDocs has checked the anchors of links.
        anchor = re.sub(r"#L(\d+)$", r"?line=\1", found[2][len(found[2].partition("#")[0]) :])
        return f"{found[1]}{posixpath.relpath(_place(target), here or '.')}{anchor}{found[3]}"

    parts = re.split(r"(^````.*?^````|^```.*?^```)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(_titled(part) if part.startswith("```") else LINK.sub(led, part) for part in parts)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Leads links to lines of files there."""
    return re.sub(r'(href="[^"?]+)\?line=(\d+)"', r'\1#__codelineno-0-\2"', output)


def _titled(block: str) -> str:
    """A block of code as the site draws it: what the tests of the documents read in its first line goes, but for the
    name of a file, which becomes the title."""
    first, rest = block.split("\n", 1)
    found = re.fullmatch(r"(`{3,}\w+) (?!linenums)(?:file=(\S+)|.*)", first)
    if found is None:
        return block
    title = "" if found[2] is None else f' title="{found[2]}"'
    return f"{found[1]}{title}\n{rest}"


def command_line() -> str:
    """The reference of the command line, as typer writes it."""
    command = [sys.executable, "-m", "typer", "hacheck.cli.app", "utils", "docs", "--name", "hacheck"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    text = re.sub(r"\[/?(bold|dim|cyan)?\]", "", text)
    return text.replace("# `hacheck`", "# Command line", 1)
