"""Speaks the Language Server Protocol over standard input and output, by pygls."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct, field
from pygls.lsp.server import LanguageServer

from hacheck import __version__
from hacheck.lsp import requests
from hacheck.lsp.spec_file import Lines, SpecFile, path_of, uri_of
from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.supervise import own_commands

TYPES_AFTER_SECONDS = 0.25
"""After a change types are looked at when nothing more is typed for so long, first under the defaults of the settings;
syntax at once."""
VERIFY_SECONDS = 60
"""How long a check is verified from the editor."""
VERIFY, PICTURE = "hacheck.verify", "hacheck.picture"

KINDS = {
    "node": lsp.SymbolKind.Class,
    "record": lsp.SymbolKind.Struct,
    "field": lsp.SymbolKind.Field,
    "part": lsp.SymbolKind.Field,
    "view": lsp.SymbolKind.Field,
    "action": lsp.SymbolKind.Function,
    "procedure": lsp.SymbolKind.Function,
    "definition": lsp.SymbolKind.Function,
    "message": lsp.SymbolKind.Event,
    "operation": lsp.SymbolKind.Interface,
    "step": lsp.SymbolKind.Key,
    "type": lsp.SymbolKind.Enum,
    "word": lsp.SymbolKind.EnumMember,
    "param": lsp.SymbolKind.Constant,
    "switch": lsp.SymbolKind.Boolean,
    "assumption": lsp.SymbolKind.Boolean,
    "check": lsp.SymbolKind.Namespace,
}
ITEMS = {
    "node": lsp.CompletionItemKind.Class,
    "field": lsp.CompletionItemKind.Field,
    "part": lsp.CompletionItemKind.Field,
    "action": lsp.CompletionItemKind.Function,
    "procedure": lsp.CompletionItemKind.Function,
    "definition": lsp.CompletionItemKind.Function,
    "message": lsp.CompletionItemKind.Event,
    "operation": lsp.CompletionItemKind.Interface,
    "word": lsp.CompletionItemKind.EnumMember,
    "local": lsp.CompletionItemKind.Variable,
    "parameter": lsp.CompletionItemKind.Variable,
    "keyword": lsp.CompletionItemKind.Keyword,
    "function": lsp.CompletionItemKind.Function,
}


class Open(Struct):
    """What is known of an open file beside its text: the task that looks at its types, and how its checks came out."""

    file: SpecFile
    types: asyncio.Task[None] | None = None
    verdicts: dict[str, str] = field(default_factory=dict)


class SpecServer(LanguageServer):
    """The server, with the files that are open."""

    def __init__(self) -> None:
        super().__init__("hacheck", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.open_files: dict[str, Open] = {}
        self.pictures = tempfile.TemporaryDirectory(prefix="hacheck-pictures-")

    def file(self, uri: str) -> SpecFile:
        """The file as it is now."""
        text = self.workspace.get_text_document(uri).source
        known = self.open_files.get(uri)
        if known is None or known.file.text != text:
            fresh = SpecFile(uri, text, self.read)
            self.open_files[uri] = Open(fresh, verdicts={} if known is None else known.verdicts)
            return fresh
        return known.file

    def read(self, path: str) -> str | None:
        """The text of another file: as it is in the editor, else on disk."""
        for uri, document in self.workspace.text_documents.items():
            if path_of(uri) == path:
                return str(document.source)
        try:
            return Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None

    def changed(self, uri: str) -> None:
        """Publishes syntax errors at once, and all findings when nothing more is typed for a while."""
        known = self.open_files.get(uri)
        if known is not None and known.types is not None:
            known.types.cancel()
        file = self.file(uri)
        self.publish(file, file.parsed[1])
        if file.parsed[0] is not None:
            self.open_files[uri].types = asyncio.get_running_loop().create_task(self._publish_types(file))

    async def _publish_types(self, file: SpecFile) -> None:
        await asyncio.sleep(TYPES_AFTER_SECONDS)
        for look in (lambda: file.first_findings, lambda: file.findings):
            found = await asyncio.to_thread(look)
            if self.file(file.uri) is not file:
                return
            self.publish(file, found)

    def publish(self, file: SpecFile, found: Sequence[Diagnostic]) -> None:
        """Sends what is wrong with a file."""
        mine = [diagnostic(file, one) for one in found]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(file.uri, mine))


def position(lines: Lines, offset: int) -> lsp.Position:
    """An offset as editors count it."""
    return lsp.Position(*lines.position(offset))


def range_of(lines: Lines, span: Span) -> lsp.Range:
    """A stretch as editors count it."""
    return lsp.Range(position(lines, span.start), position(lines, span.end))


def location(file: SpecFile, span: Span) -> lsp.Location | None:
    """A place in the file or in a library; `None` where that cannot be read any more."""
    lines = file.lines_of(span.path)
    return None if lines is None else lsp.Location(uri_of(span.path), range_of(lines, span))


def diagnostic(file: SpecFile, one: Diagnostic) -> lsp.Diagnostic:
    """A finding. One of a library stands at the beginning of the file, with its place."""
    own = one.span.path == file.path
    related = []
    for span, text in one.labels if own else (*one.labels, (one.span, "here")):
        place = location(file, span)
        related += [] if place is None else [lsp.DiagnosticRelatedInformation(place, text)]
    where = range_of(file.lines, one.span) if own else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
    message = one.message if own else f"{one.span.path}:{one.span.line}: {one.message}"
    return lsp.Diagnostic(
        where,
        message + (f"\n{one.hint}" if one.hint else ""),
        severity=lsp.DiagnosticSeverity.Error if one.severity == "error" else lsp.DiagnosticSeverity.Warning,
        code=one.code,
        source="hacheck",
        related_information=related or None,
    )


def make_server() -> SpecServer:
    """The server with all that it answers."""
    server = SpecServer()
    _follow_documents(server)
    _answer_about_names(server)
    _answer_about_text(server)
    _answer_about_checks(server)
    return server


def _offset(server: SpecServer, place: lsp.TextDocumentPositionParams | Any) -> tuple[SpecFile, int]:
    file = server.file(place.text_document.uri)
    return file, file.lines.offset(place.position.line, place.position.character)


def _follow_documents(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(given: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(given: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(given: lsp.DidCloseTextDocumentParams) -> None:
        known = server.open_files.pop(given.text_document.uri, None)
        if known is not None and known.types is not None:
            known.types.cancel()
        empty = lsp.PublishDiagnosticsParams(given.text_document.uri, [])
        server.text_document_publish_diagnostics(empty)

    @server.feature(
        lsp.TEXT_DOCUMENT_DIAGNOSTIC,
        lsp.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="hacheck"),
    )
    async def diagnostics(given: lsp.DocumentDiagnosticParams) -> lsp.RelatedFullDocumentDiagnosticReport:
        file = server.file(given.text_document.uri)
        found = await asyncio.to_thread(lambda: file.findings)
        return lsp.RelatedFullDocumentDiagnosticReport([diagnostic(file, one) for one in found])


def _answer_about_names(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        file, offset = _offset(server, given)
        found = requests.hover(file, offset)
        if found is None:
            return None
        text, span = found
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), range_of(file.lines, span))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        file, offset = _offset(server, given)
        span = requests.definition(file, offset)
        return None if span is None else location(file, span)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(given: lsp.ReferenceParams) -> list[lsp.Location]:
        file, offset = _offset(server, given)
        spans = requests.references(file, offset, declaration=given.context.include_declaration)
        return [place for span in spans if (place := location(file, span)) is not None]

    @server.feature(lsp.TEXT_DOCUMENT_RENAME)
    def rename(given: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        file, offset = _offset(server, given)
        try:
            spans = requests.renamed(file, offset, given.new_name)
        except requests.CannotRename as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"hacheck: {error}"))
            return None
        edits = [lsp.TextEdit(range_of(file.lines, span), given.new_name) for span in spans if span.path == file.path]
        return lsp.WorkspaceEdit(changes={file.uri: edits})

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        file = server.file(given.text_document.uri)
        return [
            lsp.DocumentSymbol(
                name=one.name,
                kind=KINDS.get(one.kind, lsp.SymbolKind.Variable),
                range=range_of(file.lines, one.whole if one.whole.path == file.path else one.span),
                selection_range=range_of(file.lines, one.span),
                detail=one.text or one.kind,
            )
            for one in requests.outline(file)
        ]


def _answer_about_text(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
    def completion(given: lsp.CompletionParams) -> lsp.CompletionList:
        file, offset = _offset(server, given)
        items = [
            lsp.CompletionItem(
                one.label,
                kind=ITEMS.get(one.kind, lsp.CompletionItemKind.Value),
                detail=one.kind,
                documentation=one.text or None,
            )
            for one in requests.completions(file, offset)
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        file = server.file(given.text_document.uri)
        text = requests.formatted_text(file)
        if text is None or text == file.text:
            return []
        whole = lsp.Range(lsp.Position(0, 0), position(file.lines, len(file.text)))
        return [lsp.TextEdit(whole, text)]


def _answer_about_checks(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def lenses(given: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        file = server.file(given.text_document.uri)
        found = []
        for lens in requests.lenses(file):
            verdict = server.open_files[file.uri].verdicts.get(lens.check)
            title = "verify this check" if verdict is None else f"{verdict}: verify again"
            commands = [lsp.Command(title, VERIFY, arguments=[file.uri, lens.check])]
            if verdict is not None:
                commands.append(lsp.Command("show the picture", PICTURE, arguments=[file.uri, lens.check]))
            found += [lsp.CodeLens(range_of(file.lines, lens.span), command=one) for one in commands]
        return found

    @server.command(VERIFY)
    async def verify(uri: str, check: str) -> str:
        verdict = await _verified(server, uri, check)
        if uri in server.open_files:
            server.open_files[uri].verdicts[check] = verdict
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, f"check {check}: {verdict}"))
        await server.workspace_code_lens_refresh_async(None)
        return verdict

    @server.command(PICTURE)
    async def picture(uri: str, check: str) -> str:
        page = Path(server.pictures.name) / f"{check}.html"
        await _hacheck(server, uri, check, "--report", str(page), "--quiet")
        if not page.exists():
            message = f"check {check}: no page was made"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))
            return ""
        await server.window_show_document_async(lsp.ShowDocumentParams(uri_of(str(page)), external=True))
        return str(page)


async def _hacheck(server: SpecServer, uri: str, check: str, *options: str) -> tuple[int, str]:
    """Verifies a check of the text that is in the editor, in a process of its own: the exit code, and what it printed.
    A copy of the text stands beside the file for that time, so that libraries are found."""
    file = server.file(uri)
    folder = Path(file.path).parent
    if not folder.is_dir():
        folder = Path(server.pictures.name)
    with tempfile.NamedTemporaryFile("w", suffix=".ha", prefix=".", dir=folder, encoding="utf-8") as copy:
        copy.write(file.text)
        copy.flush()
        words = ("verify", copy.name, "--check", check, "--time", str(VERIFY_SECONDS), *options)
        process = await own_commands.start(words, stderr=asyncio.subprocess.STDOUT)
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.terminate()
            raise
    return process.returncode or 0, output.decode(errors="replace")


VERDICTS = {0: "✔ as expected", 1: "✘ not as expected", 2: "✘ the spec has errors", 3: "? undecided"}


async def _verified(server: SpecServer, uri: str, check: str) -> str:
    code, _ = await _hacheck(server, uri, check, "--quiet")
    return VERDICTS.get(code, "✘ an internal error of hacheck")


def serve() -> None:
    """Serves one editor over standard input and output, until it says goodbye or hangs up."""
    make_server().start_io()
