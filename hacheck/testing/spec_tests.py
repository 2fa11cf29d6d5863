"""The checks of a spec as one test function of pytest, for a test module of one's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hacheck.checker.verify import properties_of
from hacheck.testing.check_results import NO_PROPERTY, explored, questions, what_is_wrong
from hacheck.testing.tested_model import BadModel, listed, specification_of


def spec_test(path: str | os.PathLike[str], *, wide: bool = False) -> Callable[[str], None]:
    """A test function with a case for each check of a spec. It fails where a property comes out otherwise than the
    check expects, and its message shows the run.

        test_pair = spec_test(Path(__file__).with_name("pair.ha"))

    - `wide`: the checks `by request`, too.

    Errors: `BadModel` where the file cannot be read or is wrong, so that pytest reports it when it collects the module.
    """
    import pytest  # the rest of the package works without it

    specification = specification_of(Path(path))
    checks = {one.name: one for one in questions(specification, wide=wide)}

    @pytest.mark.parametrize("check", list(checks))
    def test(check: str) -> None:
        question = checks[check]
        instance = specification.instantiate(check=check if specification.checks else None)
        if instance.system is None:
            raise BadModel(listed(instance.diagnostics))
        properties = properties_of(question, instance.system, question.only)
        found = explored(instance.system, question, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
        wrong = [
            what_is_wrong(found, name, specification) for name in [one.name for one in properties] or [NO_PROPERTY]
        ]
        message = "\n\n".join(one for one in wrong if one)
        if message:
            pytest.fail(message, pytrace=False)

    test.__doc__ = f"The checks of {Path(path).name}."
    return test
