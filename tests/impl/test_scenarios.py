"""What protocols do, as texts that can be read and rewritten: `tests/testdata`, one scenario in each test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.impl.artemis import session_words as artemis_sessions
from tests.impl.artemis import words as artemis
from tests.impl.fiorano import words as fiorano
from tests.impl.icestorm import words as icestorm
from tests.impl.qpid import words as qpid
from tests.impl.scenarios import FOLDER, Scenario, Words, carried_out, read, write

BEGIN: Mapping[str, Callable[[str], Words]] = {
    "artemis": lambda command: (
        artemis_sessions.begin(command) if command.split()[0] in artemis_sessions.SYSTEMS else artemis.begin(command)
    ),
    "fiorano": fiorano.begin,
    "icestorm": icestorm.begin,
    "qpid": qpid.begin,
}
FILES = sorted(FOLDER.glob("*/*.txt"))
ALL = [(file, scenario) for file in FILES for scenario in read(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("folder", "scenario"),
    [pytest.param(file.parent.name, one, id=f"{file.parent.name} {file.stem}: {one.title}") for file, one in ALL],
)
def test_scenario_comes_out_as_written(folder: str, scenario: Scenario, update_golden: bool) -> None:
    found = carried_out(scenario, BEGIN[folder])
    if update_golden:
        for file in FILES:
            scenarios = read(file.read_text(encoding="utf-8"))
            if file.parent.name == folder and scenario in scenarios:
                file.write_text(write(found if one == scenario else one for one in scenarios), encoding="utf-8")
    else:
        assert write([found]) == write([scenario])


def test_files_are_as_they_are_written() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert write(read(text)) == text, file
