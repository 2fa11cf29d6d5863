"""The language is read from a package in a zip file, too: Spark ships it so, and its driver then imports from there."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import hacheck

PROGRAM = """
from hacheck.model import language
assert ".zip" in language.__file__, language.__file__
print(language.load('system A "x"\\nnode S { n: 0..3 = 0 }', "a.ha").specification is not None)
"""


def test_spec_is_read_by_a_package_in_a_zip_file(tmp_path: Path) -> None:
    root = Path(hacheck.__file__).parent
    with zipfile.ZipFile(tmp_path / "hacheck.zip", "w") as archive:
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(root.parent))
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'hacheck.zip')!r})\n{PROGRAM}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.stdout, ended.stderr) == ("True\n", "")
