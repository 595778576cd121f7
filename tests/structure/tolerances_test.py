# SPDX-License-Identifier: Apache-2.0
"""docs/tolerances.md names constants with their files: both must exist."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = [line for line in (ROOT / "docs/tolerances.md").read_text().splitlines() if line.startswith("|") and "`k" in line]
SOURCES = {path.name: path for path in (ROOT / "stickslip").rglob("*.[ch]pp")}


def test_every_constant_of_the_table_stands_in_a_file_that_its_row_names():
    assert len(ROWS) > 50
    wrong = []
    for row in ROWS:
        files = [name for name in re.findall(r"\w+\.[ch]pp", row) if name in SOURCES]
        places = files or list(SOURCES)
        texts = [SOURCES[name].read_text() for name in places]
        wrong += [(constant, files) for constant in re.findall(r"`(k[A-Z]\w*)`", row)
                  if not any(re.search(rf"\b{constant}\b", text) for text in texts)]
    assert not wrong


def test_every_file_of_the_table_exists():
    named = {name for row in ROWS for name in re.findall(r"`(\w+\.[ch]pp)`", row)}
    assert named <= set(SOURCES), named - set(SOURCES)
