# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess

import pytest

PROGRAM = os.environ.get("STICKSLIP", "stickslip")
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Program:
    """The program in a scratch folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments, timeout=900):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=timeout)

    def json(self, *arguments, code=0):
        result = self(*arguments, "--json")
        assert result.returncode == code, result.stderr
        return json.loads(result.stdout)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def files(self, below="."):
        return sorted(p.name for p in (self.folder / below).iterdir())


@pytest.fixture
def stickslip(tmp_path):
    return Program(tmp_path)


@pytest.fixture
def models():
    return ROOT / "models"
