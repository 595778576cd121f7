# SPDX-License-Identifier: Apache-2.0
"""shoot and fit from outside: keys of the JSON object, files, exit codes, messages, repetition of the result."""
import json

import pytest

PUCK = """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[friction]]
name = "ice"
on = ["x", "y"]
limit = 2.943
[initial]
velocity = [1, 1]
[run]
scheme = "event"
end_time = 5
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }, { name = "vy", key = "initial.velocity.1" }]
conditions = ["x - 0.6", "y - 0.35"]
"""


def test_shoot_prints_and_stores_its_result(stickslip):
    stickslip.write("puck.toml", PUCK)
    result = stickslip.json("shoot", "puck.toml", "--out", "out")
    assert result["status"] == "success"
    assert result["unknowns"]["vx"] == pytest.approx(1.7465742373036728, abs=1e-9)
    assert result["unknowns"]["vy"] == pytest.approx(1.0188349717604759, abs=1e-9)
    assert result["residual"] < 1e-9
    assert result["iterations"] == len(result["history"]) - 1
    assert set(result["history"][0]) == {"residual", "unknowns"}
    assert [len(row) for row in result["sensitivity"]] == [2, 2]
    assert result["final"]["position"] == pytest.approx([0.6, 0.35], abs=1e-9)
    folder = stickslip.folder / "out"
    assert json.loads((folder / "summary.json").read_text()) == result
    for name in ("history.csv", "trajectory.csv", "events.csv", "result.h5", "report.html"):
        assert (folder / name).exists(), name
    again = stickslip.json("run", "--from", "out")
    assert again["final"]["position"] == pytest.approx([0.6, 0.35], abs=1e-9)


def test_a_target_out_of_reach_is_exit_code_1_and_says_what_sticks(stickslip):
    stickslip.write("puck.toml", PUCK)
    settings = ["--set", "shoot.unknowns.vx.max=1.2", "--set", "shoot.unknowns.vy.max=1.2"]
    result = stickslip.json("shoot", "puck.toml", *settings, code=1)
    assert result["status"] == "not converged"
    assert "condition 'x - 0.6'" in result["message"] and "'ice' stuck" in result["message"]


@pytest.mark.parametrize("change, expected", [
    ("shoot.conditions=['x - 1']", "too few"),
    ("shoot.conditions=['z - 1', 'y']", "unknown name 'z'"),
    ("shoot.unknowns.vx.key=initial.velocity.7", "must lie in 0 .. 1"),
    ("shoot.unknowns.vx.mim=0", "did you mean 'min'?"),
    ("shoot.unknowns.vx.min=3", "must lie in the bounds"),
])
def test_mistakes_are_exit_code_2(stickslip, change, expected):
    stickslip.write("puck.toml", PUCK.replace('"initial.velocity.0" }', '"initial.velocity.0", start = 1 }'))
    result = stickslip("shoot", "puck.toml", "--set", change)
    assert result.returncode == 2 and expected in result.stderr, result.stderr


def test_fit_of_the_belt_model(stickslip, models):
    result = stickslip.json("fit", models / "belt-fit.toml", "--out", "out")
    truth = {"limit": 1.0, "static_limit": 1.5, "viscous": 0.1}
    assert result["status"] == "success"
    for name, value in truth.items():
        assert abs(result["unknowns"][name] - value) < 3 * result["standard_errors"][name], name
    assert result["rms"] == pytest.approx(0.02, rel=0.15)
    assert result["iterations"] > 0
    lines = (stickslip.folder / "out" / "fit.csv").read_text().splitlines()
    assert lines[0] == "t,x,x_model,x_residual" and len(lines) == 401


def test_data_that_the_model_does_not_have_are_told_with_their_line(stickslip, models):
    stickslip.write("bad.csv", "t,y\n0.1,1\n0.2,2\n")
    result = stickslip("fit", models / "belt-fit.toml", "bad.csv")
    assert result.returncode == 2 and "bad.csv:1: column 'y'" in result.stderr
    stickslip.write("bad.csv", "t,x\n0.1,1\n0.2,two\n")
    result = stickslip("fit", models / "belt-fit.toml", "bad.csv")
    assert result.returncode == 2 and "bad.csv:3: 'two' in column 2" in result.stderr
