# SPDX-License-Identifier: Apache-2.0
"""The README's commands work, and the numbers and outputs that it quotes are those of the program."""

import os
import re
import subprocess
import sys

from conftest import PROGRAM, ROOT

README = (ROOT / "README.md").read_text()


def update(*arguments, text=None, folder=None):
    """tools/update-readme, of this source tree or of a copy with another README."""
    root = ROOT
    if text is not None:
        root = folder
        (root / "tools").mkdir()
        (root / "tools/update-readme").write_text((ROOT / "tools/update-readme").read_text())
        (root / "models").symlink_to(ROOT / "models")
        (root / "README.md").write_text(text)
    return subprocess.run([sys.executable, "-B", str(root / "tools/update-readme"), "--program", os.path.abspath(PROGRAM), *arguments], capture_output=True, text=True, timeout=800)


def test_commands_work_and_quoted_output_is_what_they_print():
    result = update("--check")
    assert result.returncode == 0, result.stdout + result.stderr + "\nrun tools/update-readme"


def test_a_number_that_is_out_of_date_is_found_and_rewritten(tmp_path):
    # only the part with the quoted numbers: the other commands have run in the test above
    first = README.index("```toml")
    model = README[first : README.index("```\n", first + 3) + 4]
    event = re.search(r"^    \./run run models/two-hinges\.toml --scheme event .*\d+ events.*$", README, re.M)[0]
    caption = re.search(r"^\*`\./run run models/two-hinges\.toml`.*$", README, re.M)[0]
    stale = f"{model}\n{re.sub(r'[0-9]+ events', '7 events', event)}\n\n{re.sub(r't = [0-9.]+ s', 't = 1.0 s', caption)}\n"
    result = update("--no-pictures", text=stale, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "README.md").read_text() == f"{model}\n{event}\n\n{caption}\n"
