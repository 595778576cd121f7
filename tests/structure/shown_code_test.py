# SPDX-License-Identifier: Apache-2.0
"""C++ that the README shows is part of a program that the tests run."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def missing(shown, program):
    """The first line shown that does not follow in the program, in this order."""
    rest = iter(lines(program))
    for line in lines(shown):
        if line not in rest:
            return line
    return None


def test_every_line_of_the_readme_stands_in_an_example():
    programs = [p.read_text() for p in sorted((ROOT / "examples").glob("*.cpp"))]
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        assert any(missing(block, program) is None for program in programs), f"in no example:\n{block}"


def test_the_check_sees_a_line_that_is_nowhere():
    assert missing("a;\nb;\n", "x;\n  a;\nc;\nb;\n") is None
    assert missing("b;\na;\n", "a;\nb;\n") == "a;"
