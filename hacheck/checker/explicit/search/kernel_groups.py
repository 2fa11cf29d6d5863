"""The engine's own loops as functions, compiled for states of some size when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from hacheck.checker.explicit.search import explore_kernels, path_kernels
from hacheck.checker.explicit.search.worker_memory import recent_states
from hacheck.compile.kernels.compiled_kernels import compiled_kernels
from hacheck.compile.machine.compiler import link
from hacheck.compile.machine.object_cache import ObjectCache


class Kernels:
    """Loops for states of so many words. `fingerprint`: the visited set knows states by 64 bits only. `alone`: one
    thread explores, so that nobody else writes the visited set meanwhile."""

    def __init__(
        self, words: int, fingerprint: bool, alone: bool, cache: ObjectCache, constants: Mapping[str, int] | None = None
    ) -> None:
        """`constants`: what is compiled differently, for tests."""
        self.words, self.fingerprint, self.alone, self._cache = words, fingerprint, alone, cache
        usual = {"W": words, "ALONE": int(alone), "FILTER_MASK": recent_states(words) - 1}
        self._constants = usual | dict(constants or {})

    def exact(self) -> Kernels:
        """Those for a search that knows states in full."""
        return Kernels(self.words, False, self.alone, self._cache, self._constants) if self.fingerprint else self

    @cached_property
    def search(self) -> Mapping[str, Callable[..., int]]:
        """The kernels of the search."""
        return self.compiled(explore_kernels.KERNELS, explore_kernels.EXPORTED, not self.fingerprint)

    @cached_property
    def paths(self) -> Mapping[str, Callable[..., int]]:
        """The kernels that look back."""
        return self.compiled(path_kernels.KERNELS, path_kernels.EXPORTED)

    def compiled(
        self, functions: Sequence[Callable[..., Any]], exported: Mapping[str, int], exact: bool = True
    ) -> Mapping[str, Callable[..., int]]:
        """Some kernels; those exported, with so many arguments each. `exact`: slots hold indices."""
        constants = self._constants | {"EXACT": int(exact)}
        linked = link([compiled_kernels(functions, constants, exported, self._cache)])
        return {name: linked.function(name, arguments) for name, arguments in exported.items()}
