# SPDX-License-Identifier: Apache-2.0
"""stickslip periodic from outside: JSON, files, exit codes."""
import json
import os
import subprocess

import pytest

PROGRAM = os.environ.get("STICKSLIP", "build/release/bin/stickslip")
OSCILLATOR = """
[parameters]
omega = 0.7
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos(omega*t)"]
[[friction]]
on = "x"
limit = 0.4
[periodic]
period = "2*pi/omega"
"""


def periodic(folder, text, *arguments):
    (folder / "model.toml").write_text(text)
    return subprocess.run([PROGRAM, "periodic", "model.toml", "--json", "--out", "out", *arguments], cwd=folder,
                          capture_output=True, text=True)


def test_den_hartog_to_ten_digits(tmp_path):
    done = periodic(tmp_path, OSCILLATOR)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "success" and result["polished"] and result["stable"]
    assert result["amplitude"][0] == pytest.approx(1.8251665659, abs=1e-10)
    assert all(c["ok"] for c in result["certificates"])
    assert (tmp_path / "out/orbit.csv").read_text().startswith("t,x,v_x,r_friction1")


def test_branch_grows_through_a_range(tmp_path):
    done = periodic(tmp_path, OSCILLATOR, "--continue", "omega=0.6:0.8")
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["branch"]["points"]
    assert points[0]["value"] == 0.6 and points[-1]["value"] == 0.8
    assert points[0]["amplitude"][0] == pytest.approx(1.5143507196, abs=1e-9)
    assert points[-1]["amplitude"][0] == pytest.approx(2.5017878810, abs=1e-9)


@pytest.mark.parametrize("change, words", [
    ("periodic.period=5", "does not fit the excitation"),
    ("periodic.autonomous=true", "depends on t"),
    ("periodic.samples=20", "too few"),
    ("periodic.method=stepping", "not available"),
])
def test_wrong_input_says_what_to_do(tmp_path, change, words):
    done = periodic(tmp_path, OSCILLATOR, "--set", change)
    assert done.returncode == 2 and words in done.stderr


def test_nothing_periodic_is_refused(tmp_path):
    done = periodic(tmp_path, OSCILLATOR.replace('"cos(omega*t)"', "0"))
    assert done.returncode == 2 and "autonomous" in done.stderr
