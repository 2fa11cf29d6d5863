"""Puts a bug into a module of this process as it is loaded: nothing is written anywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from tests.quality.bugs import Bug, changed


class _Loader(SourceFileLoader):
    """Loads a module from its source with a bug in it, and never from what was compiled before."""

    def __init__(self, bug: Bug, path: str) -> None:
        super().__init__(bug.full_module, path)
        self._bug = bug

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed source."""
        source = self.get_source(fullname)
        assert source is not None, fullname
        return compile(changed(self._bug, source), self.path, "exec", dont_inherit=True)


class Seeding(MetaPathFinder):
    """Finds the one module that has the bug. `used`: it was loaded."""

    def __init__(self, bug: Bug) -> None:
        self._bug = bug
        self.used = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where that module is, with a loader of its own; `None` for every other one."""
        if fullname != self._bug.full_module:
            return None
        found = PathFinder.find_spec(fullname, path)
        assert found is not None, fullname
        assert found.origin is not None, fullname
        found.loader = _Loader(self._bug, found.origin)
        self.used = True
        return found


@contextmanager
def seeded(bug: Bug | None) -> Iterator[None]:
    """Within, the module of the bug is loaded with it. To be used in a process that has not loaded it yet."""
    if bug is None:
        yield
        return
    assert bug.full_module not in sys.modules, f"{bug.full_module} is loaded already"
    seeding = Seeding(bug)
    sys.meta_path.insert(0, seeding)
    try:
        yield
        assert seeding.used, f"{bug.full_module} was never loaded"
    finally:
        sys.meta_path.remove(seeding)
