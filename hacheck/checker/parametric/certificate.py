"""A proof as files that others can check without hacheck.

- `NNN-….smt2`: one obligation each, as it was shown; plain `z3 FILE` prints `unsat`;
- `index.json`: what was proved, for which sizes, by which claims, and what each file shows;
- `model.pyv`: the theory in the language of mypyvy;
- `README.txt`: how to read all this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hacheck import __version__
from hacheck.atomic_files import replace_text
from hacheck.checker.parametric import mypyvy_export
from hacheck.checker.parametric.obligation_solving import Outcome
from hacheck.checker.parametric.theory import Claim, Theory

INDEX = "index.json"

README = """A proof that hacheck has found, as questions to a solver.

Each file *.smt2 is one obligation: what is assumed, a step, and the negation of what is to be shown. `unsat` means that
it is shown. To check all of them:

    for file in *.smt2; do z3 "$file"; done | sort | uniq -c

What is claimed is the conjunction of the claims in index.json. It holds at the start (files `…-start-…`), and each step
of each action keeps it (all others). So it holds of every state that can be reached, whatever the sizes.

What has to be believed beside the solver: that the steps in these files are the model's. docs/proofs.md of hacheck says
how they come about. model.pyv has the same steps in the language of mypyvy.
"""


def write(folder: Path, theory: Theory, claims: Sequence[Claim], outcomes: Sequence[Outcome]) -> list[Path]:
    """Writes the certificate of a proof into a folder; the files of obligations, in order. Errors: `OSError`."""
    assert all(one.verdict == "shown" for one in outcomes), "only what is proved has a certificate"
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    written, index = [], []
    for number, outcome in enumerate(outcomes, start=1):
        path = (
            folder
            / f"{number:03}-{_plain(outcome.obligation.transition.name)}-{_plain(outcome.obligation.claim.name)}.smt2"
        )
        replace_text(path, outcome.text + "(check-sat)\n")
        written.append(path)
        index.append({"file": path.name, "shows": outcome.obligation.title, "kind": outcome.obligation.kind})
    content = {
        "hacheck": __version__,
        "system": theory.name,
        "covers": list(theory.covers),
        "left_open": list(theory.notes),
        "claims": [{"name": one.name, "kind": "lemma" if one.prop is None else one.prop.kind} for one in claims],
        "obligations": index,
    }
    replace_text(folder / INDEX, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    replace_text(folder / "model.pyv", mypyvy_export.text(theory, claims))
    replace_text(folder / "README.txt", README)
    return written


class Occupied(Exception):
    """A folder holds files that are none of a certificate: they would be lost."""


def check_free(folder: Path) -> None:
    """Errors: `Occupied` for a folder that has files and no index of a certificate; `OSError`."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if names and _index(folder) is None:
        raise Occupied(f"{folder} holds {min(names)}, which is not a certificate")


def _clear(folder: Path) -> None:
    """Removes the obligations of the certificate before, by its index: what else is there stays."""
    for name in _index(folder) or ():
        with suppress(FileNotFoundError):
            (folder / name).unlink()


def _index(folder: Path) -> list[str] | None:
    """The files of obligations that the index of a certificate names; `None` where there is none."""
    try:
        content = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        names = [str(one["file"]) for one in content["obligations"]] if "hacheck" in content else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if names is None else [name for name in names if re.fullmatch(r"[\w-]+\.smt2", name)]


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()
