"""What verifying found, in the forms that CI systems read: JUnit XML, SARIF, GitHub annotations; and a baseline.

All are made of the document that `verify --json` writes, so what they say is what the command says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec import UNSET, Struct

from hacheck.documents.verify import CheckVerdict, PropertyVerdict, VerifyDocument

Known = frozenset[tuple[str, str]]
"""Results that are known not to be as expected: the check and the property of each."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Result(Struct, frozen=True):
    """A property of a check, or a check as a whole where `found` is `None`: an error of the spec, or not decided."""

    check: CheckVerdict
    found: PropertyVerdict | None

    @property
    def name(self) -> str:
        """What a CI system calls it."""
        return f"{self.check.name}/{self.found.name if self.found is not None else 'specification'}"

    @property
    def outcome(self) -> str:
        """`expected`, `unexpected` or `undecided`."""
        return self.found.outcome if self.found is not None else self.check.outcome

    @property
    def place(self) -> tuple[str, int]:
        """The file and the line of the property, or of the action that failed."""
        if self.found is not None:
            text = self.found.place
        else:
            text = "" if self.check.fault is None else self.check.fault.place
        path, _, line = text.rpartition(":")
        return (path, int(line)) if path and line.isdigit() else ("", 1)

    @property
    def title(self) -> str:
        """What came out, in one line."""
        if self.found is None:
            reason = self.check.stopped or "not decided"
            reason = reason if self.check.fault is None else self.check.fault.message
            return f"check {self.check.name}: {reason}"
        one = self.found
        said = {"not-inductive": "is not inductive", "unknown": "is undecided"}.get(one.verdict, f"is {one.verdict}")
        said = "holds" if one.verdict == "holds" else said
        wrong = f", expected: {one.expected_verdict}" if self.outcome == "unexpected" else ""
        meaning = f" ({one.description})" if one.description else ""
        return f"{one.name} {said} in check {self.check.name}{wrong}{meaning}"

    @property
    def message(self) -> str:
        """The title, how far the verdict reaches, and the steps of the run."""
        lines = [self.title]
        if self.found is not None:
            lines.append(self.found.scope)
        lines += steps_of(self.found)
        return "\n".join(lines)


def steps_of(found: PropertyVerdict | None) -> list[str]:
    """The steps of a counterexample, a line each: number, node, action and what it changed."""
    lines = []
    rows = [] if found is None or found.run is None else found.run[1:]
    for number, row in enumerate(rows, start=1):
        if row.action is UNSET:
            continue
        who = f"{row.node} " if row.node is not UNSET and row.node is not None else ""
        changes = "" if row.changes is UNSET or not row.changes else f": {'; '.join(row.changes)}"
        lines.append(f"{number:>3} {who}{row.action}{changes}")
    return lines


def results(document: VerifyDocument) -> Iterator[Result]:
    """Everything that a CI system is to hear of, in the order of the report."""
    for check in document.checks:
        for found in check.properties:
            yield Result(check, found)
        if check.fault is not None or not check.properties:
            yield Result(check, None)


def known_results(text: str) -> Known:
    """What an earlier document had that was not as expected. Errors: `ValueError` for another text."""
    try:
        checks = json.loads(text)["checks"]
        found = [(check["name"], one) for check in checks for one in check["properties"]]
        return frozenset((name, one["name"]) for name, one in found if one["outcome"] != "expected")
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError("is no output of hacheck verify --json") from error


def is_known(result: Result, known: Known) -> bool:
    """Whether a result was in the baseline."""
    return result.found is not None and (result.check.name, result.found.name) in known


def junit(document: VerifyDocument, known: Known = frozenset()) -> str:
    """JUnit XML: a suite for each check, a case for each property. What is in the baseline is skipped."""
    root = Element("testsuites", name=document.spec)
    for check in document.checks:
        mine = [one for one in results(document) if one.check is check]
        suite = SubElement(root, "testsuite", name=f"{document.spec}: {check.name}", time=f"{check.seconds:.3f}")
        failed = 0
        for one in mine:
            path, line = one.place
            name = one.name.partition("/")[2]
            case = SubElement(suite, "testcase", classname=f"{document.spec}.{check.name}", name=name)
            case.set("file", path)
            case.set("line", str(line))
            if one.outcome == "expected":
                continue
            if is_known(one, known):
                SubElement(case, "skipped", message="known: in the baseline")
                continue
            failed += 1
            kind = "failure" if one.outcome == "unexpected" else "error"
            SubElement(case, kind, message=one.title).text = printable(one.message)
        suite.set("tests", str(len(mine)))
        suite.set("failures", str(failed))
    return xml_text(root)


def xml_text(root: Element) -> str:
    """A document of XML, a line for each element."""
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def printable(text: str) -> str:
    """The text without characters that XML cannot have."""
    return "".join(char for char in text if char in "\t\n" or char >= " ")


def sarif(document: VerifyDocument, known: Known = frozenset()) -> str:
    """SARIF 2.1.0: a result for each property that did not come out as the spec says, at its line, with its run."""
    rules: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    for one in results(document):
        if one.outcome == "expected":
            continue
        rule = one.found.name if one.found is not None else "specification"
        text = one.found.description if one.found is not None else ""
        rules.setdefault(rule, {"id": rule, "shortDescription": {"text": text or rule}})
        path, line = one.place
        location = {"artifactLocation": {"uri": path or document.path}, "region": {"startLine": line}}
        found.append(
            {
                "ruleId": rule,
                "level": "error" if one.outcome == "unexpected" else "warning",
                "message": {"text": one.message},
                "locations": [{"physicalLocation": location}],
                "partialFingerprints": {"check/property": one.name},
                "baselineState": "unchanged" if is_known(one, known) else "new",
            }
        )
    return sarif_text(document.hacheck, list(rules.values()), found)


def sarif_text(version: str, rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """A SARIF file of one run of this version of hacheck."""
    driver = {"name": "hacheck", "semanticVersion": version, "rules": rules}
    content = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def github_annotations(document: VerifyDocument, known: Known = frozenset()) -> str:
    """A workflow command for each property that did not come out as the spec says; GitHub shows it at its line."""
    lines = []
    for one in results(document):
        if one.outcome == "expected":
            continue
        kind = "notice" if is_known(one, known) else "error" if one.outcome == "unexpected" else "warning"
        path, line = one.place
        where = f"file={_value(path or document.path)},line={line},title={_value(one.title)}"
        lines.append(f"::{kind} {where}::{_data(one.message)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def has_news(document: VerifyDocument, known: Known) -> bool:
    """Whether something is not as expected that the baseline did not have."""
    return any(one.outcome == "unexpected" and not is_known(one, known) for one in results(document))
