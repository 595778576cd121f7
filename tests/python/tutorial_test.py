# SPDX-License-Identifier: Apache-2.0
"""The tutorial of docs/python.md runs, block after block."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    for picture in ("two-masses.png", "resonance.png", "report.html"):
        assert (tmp_path / picture).stat().st_size > 10000
    assert names["rest"].final_velocity == [0] and "exactly: True" in capsys.readouterr().out
    assert abs(names["held"].final_position[0] - 1) < 0.3 and names["throw"].ok and names["belt"].ok
