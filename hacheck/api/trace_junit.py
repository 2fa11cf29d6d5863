"""What comparing traces found, as JUnit XML: made of the document that `conform --json` writes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement

from hacheck.api.ci_reports import printable, xml_text
from hacheck.documents.records import BrokenStretch, ConformDocument, RecordPlace, TraceVerdict


def junit(document: ConformDocument, *, strict: bool = False) -> str:
    """A suite for the comparison; a case for each trace, and one for each property that it violates. A trace that is
    undecided is an error; a property that is possibly violated is skipped, with `strict` a failure."""
    root = Element("testsuites", name=document.spec)
    suite = SubElement(root, "testsuite", name=f"{document.spec}: {document.check}")
    for verdict in document.verdicts:
        case = _case(suite, document, verdict, verdict.trace_id)
        if verdict.kind != "conforms":
            kind = "failure" if verdict.kind == "deviates" else "error"
            where = f" at {verdict.file}:{verdict.line}" if verdict.file else ""
            text = "\n".join((verdict.reason, *verdict.failing, *verdict.expected))
            SubElement(case, kind, message=f"{verdict.kind}{where}: {verdict.reason}").text = printable(text)
        for name, sure in _properties(verdict):
            mine = [one for one in verdict.broken if one.invariant == name and (one.sure or not sure)]
            case = _case(suite, document, verdict, f"{verdict.trace_id}/{name}", mine[0].start if mine else None)
            word = "violated" if sure else "possibly violated"
            lines = [stretch_words(one) for one in mine]
            message = f"{name} {word}" + (f": {lines[0]}" if lines else "")
            if sure or strict:
                SubElement(case, "failure", message=message).text = printable("\n".join(lines))
            else:
                SubElement(case, "skipped", message=message)
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    return xml_text(root)


def _case(
    suite: Element, document: ConformDocument, verdict: TraceVerdict, name: str, place: RecordPlace | None = None
) -> Element:
    case = SubElement(suite, "testcase", classname=f"{document.spec}.{document.check}", name=printable(name))
    file, line = (verdict.file, verdict.line) if place is None else (place.file, place.line)
    if file:
        case.set("file", printable(file))
        case.set("line", str(line or 1))
    return case


def _properties(verdict: TraceVerdict) -> Iterator[tuple[str, bool]]:
    """The properties that a trace violates, with whether it is certain, each once."""
    sure = dict.fromkeys(one.partition("@")[0] for one in verdict.violated)
    yield from ((name, True) for name in sure)
    possible = dict.fromkeys(one.partition("@")[0] for one in verdict.perhaps)
    yield from ((name, False) for name in possible if name not in sure)


def stretch_words(one: BrokenStretch) -> str:
    """When a property was broken, for how long, by whom, from which record to which."""
    if one.detail:
        return f"{one.detail} ({_place(one.start)})"
    end = "the end of the log" if one.is_open else _place(one.end)
    least = "at least " if one.is_open else ""
    lasted = "" if one.nanoseconds is None else f"{least}{one.nanoseconds / 1e9:.3f} s, "
    nodes = f"{', '.join(one.nodes)}, " if one.nodes else ""
    return f"{lasted}{nodes}from {_place(one.start)} to {end}"


def _place(place: RecordPlace) -> str:
    at = f"{place.file}:{place.line}" if place.file else f"record {place.seq}"
    if place.time is None:
        return f"{place.event} ({at})"
    return f"{place.event} ({at}) at {datetime.fromtimestamp(place.time / 1e9, UTC).isoformat(timespec='milliseconds')}"
