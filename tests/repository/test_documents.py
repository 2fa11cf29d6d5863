"""The published schemas are those of the data classes, and commands write what their schema says.

After a change of `hacheck.documents`: `pytest tests/repository/test_documents.py --update-golden`, then read the
difference. A key that went, or that has another type, needs a new version of that document.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hacheck.api.verify_document import verify_all_document
from hacheck.documents.catalogue import DOCUMENTS, kind_of, schema_text
from hacheck.documents.document import Document, from_dict
from hacheck.documents.verify import VerifyDocument
from tests.cli.command import hacheck

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
SPECS = Path(__file__).parents[1] / "golden" / "specs"

COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "verify": (
        ("verify", "pair.ha", "--recheck", "5s"),
        ("verify", "overflow.ha"),
        ("verify", "takes_over.ha", "--property", "one", "--counterexamples", "2"),
        ("verify", "beat.ha"),
        ("verify", "beat.ha", "--engine", "induction", "--time", "60s"),
        ("verify", "pair.ha", "--check", "default", "--raise-bounds", "--time", "60s"),
    ),
    "simulate": (("simulate", "pair.ha", "--seed", "7"), ("simulate", "overflow.ha", "--seed", "1")),
    "simulate-traces": (("simulate", "pair.ha", "--traces", "20", "--out", "made", "--mutate", "0.5", "--jobs", "1"),),
    "traces": (("traces", "stats", "made"), ("traces", "convert", "made", "--out", "made.parquet")),
    "conform": (("conform", "pair.ha", "made", "--within", "one_active=1ms"),),
    "prove": (
        ("prove", "quorum_election.ha", "--time", "60s"),
        ("prove", "lock_servers.ha", "--given", "--time", "60s"),
        ("prove", "overflow.ha", "--time", "60s"),
        ("prove", "beat.ha", "--time", "60s"),
    ),
    "sweep": (
        ("sweep", "pair.ha", "--vary", "crashes=0..2", "--check", "default", "--out", "swept", "--jobs", "1"),
        ("sweep", "pair.ha", "--vary", "crashes=0", "--states", "5", "--out", "cut", "--jobs", "1"),
    ),
    "timing": (("timing", "lease.ha", "--vary", "margin=1..2", "--vary", "pause=0..2", "--set", "drift=1"),),
    "simulate-impl": (
        (
            "simulate-impl",
            "fiorano-shared",
            "--faults",
            "chaos",
            "--seed",
            "4",
            "--seeds",
            "1",
            "--jobs",
            "1",
            "--as-it-is",
        ),
    ),
    "check-impl": (("check-impl", "fiorano-shared", "--schedules", "20"),),
    "diagram": (("diagram", "pair.ha"), ("diagram", "pair.ha", "--static")),
    "audit": (("audit", "pair"), ("audit", "--product", "artemis@2.41", "store")),
    "replay": (("replay", "register.ha", "--check", "cut", "--property", "one_leader", "--on", "plugin:Register"),),
}
"""Commands for each kind of document, in an order in which later ones find what earlier ones have written."""


def schema_file(document: type[Document]) -> Path:
    """Where the schema of a document is published."""
    return SCHEMAS / f"{kind_of(document)}-1.json"


@pytest.mark.parametrize("document", DOCUMENTS, ids=kind_of)
def test_published_schema_is_that_of_the_data_class(document: type[Document], update_golden: bool) -> None:
    if update_golden:
        schema_file(document).write_text(schema_text(document), encoding="utf-8")
    assert schema_file(document).read_text(encoding="utf-8") == schema_text(document)
    Draft202012Validator.check_schema(json.loads(schema_text(document)))


def test_every_published_schema_belongs_to_a_document() -> None:
    assert set(SCHEMAS.glob("*.json")) == {*map(schema_file, DOCUMENTS), SCHEMAS / "view-1.json"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Any]]]:
    """What the commands write, by kind."""
    folder = tmp_path_factory.mktemp("documents")
    examples = SCHEMAS.parents[1] / "examples"
    for path in (*SPECS.glob("*.ha"), *(examples / "proofs").glob("*.ha"), examples / "timing" / "lease.ha"):
        shutil.copy(path, folder)
    configurations = SCHEMAS.parents[1] / "tests" / "data" / "audit"
    shutil.copytree(configurations / "artemis_no_check", folder / "pair")
    shutil.copytree(configurations / "artemis_shared_store", folder / "store")
    for path in (examples / "replay").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv(
            "HACHECK_CACHE_DIR", str(folder / "cache")
        )  # what raised bounds find is kept there, and shown later
        yield {kind: [_written(command) for command in commands] for kind, commands in COMMANDS.items()}


def _written(command: tuple[str, ...]) -> Any:
    place = Path("found.json")
    place.unlink(missing_ok=True)
    where = ("--format", "json", "--out") if command[0] == "diagram" else ("--json",)
    ended = hacheck(*command, *where, str(place))
    assert ended.code != 4, ended.err
    assert place.exists(), f"{' '.join(command)} wrote nothing: {ended.err}"
    return json.loads(place.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", COMMANDS)
def test_command_writes_what_the_published_schema_says(kind: str, written: dict[str, list[Any]]) -> None:
    schema = json.loads((SCHEMAS / f"{kind}-1.json").read_text(encoding="utf-8"))
    for content in written[kind]:
        assert (content["document"], content["version"]) == (kind, 1)
        assert [error.message for error in Draft202012Validator(schema).iter_errors(content)] == []


@pytest.mark.parametrize("kind", COMMANDS)
def test_schema_names_every_key_that_is_written(kind: str, written: dict[str, list[Any]]) -> None:
    schema = json.loads((SCHEMAS / f"{kind}-1.json").read_text(encoding="utf-8"))
    strict = json.loads(json.dumps(schema))
    for part in strict["$defs"].values():
        part["additionalProperties"] = False
    for content in written[kind]:
        assert [error.message for error in Draft202012Validator(strict).iter_errors(content)] == []


def test_the_examples_fill_every_part_of_a_document(written: dict[str, list[Any]]) -> None:
    """Else a schema would be compared with nothing but nulls and empty lists."""
    checks = [check for content in written["verify"] for check in content["checks"]]
    assert [part for part in ("recheck", "fault", "raised", "bounds") if not any(check[part] for check in checks)] == []
    properties = [one for check in checks for one in check["properties"]]
    assert any(one["others"]["runs"] for one in properties if "others" in one)
    assert [part for part in ("run", "gap", "raised") if not any(one[part] for one in properties)] == []
    assert {content.get("in_fragment") for content in written["prove"]} == {True, False}
    assert any(content.get("counterexamples") for content in written["prove"])
    assert any(one["run"] and one["region"] for one in written["timing"][0]["properties"])
    assert {one["kind"] for one in written["conform"][0]["verdicts"]} == {"conforms", "deviates"}
    assert written["simulate-impl"][0]["told"][0]["story"]
    assert written["check-impl"][0]["disagreements"] == []


def test_verify_all_writes_the_documents_of_its_specs(written: dict[str, list[Any]]) -> None:
    specs = [from_dict(VerifyDocument, content) for content in written["verify"]]
    content = verify_all_document(specs, ["left_out"], 1).to_dict()
    schema = json.loads((SCHEMAS / "verify-all-1.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(content)] == []
    assert content["specs"] == written["verify"]


def test_wrong_content_is_refused_by_the_schema(written: dict[str, list[Any]]) -> None:
    schema = json.loads((SCHEMAS / "verify-1.json").read_text(encoding="utf-8"))
    content = written["verify"][0]
    del content["checks"][0]["properties"][0]["verdict"]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(content)] == [
        "'verdict' is a required property"
    ]
