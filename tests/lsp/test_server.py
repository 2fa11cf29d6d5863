"""The language server, spoken to over standard input and output by a real client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra lsp is not installed: pip install 'hacheck[lsp]'")

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

SPEC = """system Pair "Two servers, one lock."

param servers = 2 in 2..3 "how many"
node Gateway { }
node Server[servers] symmetric "serves" {
  state mode: { passive, active } = passive
  term: 0..2 = 0
}
lock LockFile on Gateway held by Server

define serving(s: Server): bool = s.mode == active

action take_over(s: Server) "a server gets the lock"
  when s.mode == passive
do
  acquire LockFile then s.mode := active else s.mode := passive

on lost LockFile at s do s.mode := passive

invariant one "never two": at most one s: Server where serving(s)
check default expect all hold
"""

Talk = Callable[["Editor"], Awaitable[None]]


class Editor:
    """A client with one open file."""

    def __init__(self, folder: Path) -> None:
        self.client = LanguageClient("test", "1")
        self.path = folder / "pair.ha"
        self.uri = self.path.as_uri()
        self.version = 0
        self.published: list[list[lsp.Diagnostic]] = []
        self.messages: list[str] = []

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(given: lsp.PublishDiagnosticsParams) -> None:
            self.published.append(list(given.diagnostics))

        @self.client.feature(lsp.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def shown(given: lsp.ShowMessageParams) -> None:
            self.messages.append(given.message)

        @self.client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)  # type: ignore[untyped-decorator]
        def refreshed(*_: Any) -> None:
            return None

    async def open(self, text: str) -> None:
        """Starts the server and opens the file."""
        self.path.write_text(text)
        await self.client.start_io(sys.executable, "-m", "hacheck", "lsp", "--stdio")
        await self.client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
        self.client.initialized(lsp.InitializedParams())
        item = lsp.TextDocumentItem(self.uri, "hacheck", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, text: str) -> None:
        """Types another text."""
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    async def findings(self) -> list[lsp.Diagnostic]:
        """What is wrong with the file, asked for."""
        params = lsp.DocumentDiagnosticParams(self.document)
        return list((await self.client.text_document_diagnostic_async(params)).items)

    @property
    def document(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    async def close(self) -> None:
        """Says goodbye."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def at(text: str, word: str, nth: int = 0) -> lsp.Position:
    """The place of a word in a text."""
    place = -1
    for _ in range(nth + 1):
        place = text.index(word, place + 1)
    before = text[:place]
    return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def talk(folder: Path, text: str, what: Talk) -> None:
    """Opens the text in an editor, and does something there."""

    async def run() -> None:
        editor = Editor(folder)
        await editor.open(text)
        try:
            await asyncio.wait_for(what(editor), 60)
        finally:
            await asyncio.wait_for(editor.close(), 20)

    asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    """Waits for something to come."""
    while not condition():
        await asyncio.sleep(0.02)


def test_errors_are_published_while_typing_and_when_asked_for(tmp_path: Path) -> None:
    async def what(editor: Editor) -> None:
        assert await editor.findings() == []
        editor.change(SPEC.replace("s.mode := active else", "s.mod := active else"))
        await until(lambda: any(one and one[0].code == "HA103" for one in editor.published))
        (found,) = await editor.findings()
        assert (found.code, found.source, found.severity) == ("HA103", "hacheck", lsp.DiagnosticSeverity.Error)
        assert "did you mean `mode`" in found.message
        editor.change(SPEC.replace("do\n  acquire", "do\n  acquire acquire"))
        await until(lambda: bool(editor.published[-1]) and editor.published[-1][0].code == "HA005")
        editor.change("")
        assert [one.code for one in await editor.findings()] == ["HA002"]

    talk(tmp_path, SPEC, what)


def test_names_are_explained_found_and_renamed(tmp_path: Path) -> None:
    async def what(editor: Editor) -> None:
        client, document = editor.client, editor.document
        field = at(SPEC, "mode == passive")
        shown = await client.text_document_hover_async(lsp.HoverParams(document, field))
        assert shown is not None
        assert isinstance(shown.contents, lsp.MarkupContent)
        assert "**field** `mode` of `Server`" in shown.contents.value
        assert "{ passive, active }" in shown.contents.value
        word = await client.text_document_hover_async(lsp.HoverParams(document, at(SPEC, "most one s")))
        assert word is not None
        assert isinstance(word.contents, lsp.MarkupContent)
        assert "`at most one x: T where …`" in word.contents.value
        place = await client.text_document_definition_async(lsp.DefinitionParams(document, field))
        assert isinstance(place, lsp.Location)
        assert place.range.start == at(SPEC, "mode: {")
        context = lsp.ReferenceContext(include_declaration=False)
        uses = await client.text_document_references_async(lsp.ReferenceParams(context, document, field))
        assert uses is not None
        assert len(uses) == SPEC.count(".mode")
        edit = await client.text_document_rename_async(lsp.RenameParams(document, field, "role"))
        assert edit is not None
        assert edit.changes is not None
        assert len(edit.changes[editor.uri]) == SPEC.count(".mode") + 1
        refused = await client.text_document_rename_async(lsp.RenameParams(document, field, "term"))
        assert refused is None
        await until(lambda: any("there is a field `term` already" in one for one in editor.messages))

    talk(tmp_path, SPEC, what)


def test_locals_of_one_name_in_two_handlers_are_two(tmp_path: Path) -> None:
    async def what(editor: Editor) -> None:
        place = at(SPEC, "s.mode := passive", 1)  # in `on lost`
        params = lsp.DefinitionParams(editor.document, place)
        found = await editor.client.text_document_definition_async(params)
        assert isinstance(found, lsp.Location)
        assert found.range.start == lsp.Position(*_moved(at(SPEC, "at s do"), 3))

    talk(tmp_path, SPEC, what)


def _moved(place: lsp.Position, columns: int) -> tuple[int, int]:
    return place.line, place.character + columns


def test_completion_knows_members_behind_a_dot_and_words_elsewhere(tmp_path: Path) -> None:
    text = SPEC.replace("when s.mode == passive", "when s.")

    async def what(editor: Editor) -> None:
        client, document = editor.client, editor.document
        place = lsp.Position(*_moved(at(text, "when s."), len("when s.")))
        found = await client.text_document_completion_async(lsp.CompletionParams(document, place))
        assert isinstance(found, lsp.CompletionList)
        assert {one.label for one in found.items} == {"mode", "term"}
        elsewhere = await client.text_document_completion_async(lsp.CompletionParams(document, at(text, "invariant")))
        assert isinstance(elsewhere, lsp.CompletionList)
        assert {"Server", "LockFile", "serving", "acquire", "passive"} <= {one.label for one in elsewhere.items}

    talk(tmp_path, text, what)


def test_file_is_formatted_and_its_outline_shown(tmp_path: Path) -> None:
    async def what(editor: Editor) -> None:
        client, document = editor.client, editor.document
        options = lsp.FormattingOptions(2, True)
        (edit,) = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document, options)) or []
        assert edit.new_text == SPEC
        shown = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert shown is not None
        assert {"Server", "take_over", "one", "default"} <= {one.name for one in shown}

    talk(tmp_path, SPEC.replace("  state mode", "      state mode"), what)


def test_check_is_verified_from_its_code_lens(tmp_path: Path) -> None:
    async def what(editor: Editor) -> None:
        client = editor.client
        lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
        assert lenses is not None
        assert lenses[0].command is not None
        assert lenses[0].command.title == "verify this check"
        assert lenses[0].range.start == at(SPEC, "default expect")
        params = lsp.ExecuteCommandParams(lenses[0].command.command, arguments=lenses[0].command.arguments)
        assert await client.workspace_execute_command_async(params) == "✔ as expected"
        again = await client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
        assert again is not None
        assert again[0].command is not None
        assert again[0].command.title == "✔ as expected: verify again"
        assert [path.name for path in tmp_path.iterdir()] == ["pair.ha"]

    talk(tmp_path, SPEC, what)
