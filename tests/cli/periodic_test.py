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


def test_periodic_stepping_is_polished_to_the_same_orbit(tmp_path):
    done = periodic(tmp_path, OSCILLATOR, "--set", "periodic.method=stepping")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["method"] == "stepping"
    assert result["unknowns"] == 3 * 256
    assert result["amplitude"][0] == pytest.approx(1.8251665659, abs=1e-10)


TOY = """
[parameters]
v = 1
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["-100*(1 - 1/sqrt(x^2 + (1+y)^2))*x", "-100*(1 - 1/sqrt(x^2 + (1+y)^2))*(y+1) - 10"]
[[contact]]
name = "belt"
gap = "y"
slip = "x"
mu = 0.3
mu_static = 0.4
surface_velocity = "v"
[initial]
position = [0, 0]
[periodic]
autonomous = true
period = 1.5
"""


def test_isolated_cycle_on_the_belt(tmp_path):
    done = periodic(tmp_path, TOY)
    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert result["period"] == pytest.approx(1.5166441349, abs=1e-9)
    assert result["stick_fraction"]["belt"] * result["period"] == pytest.approx(0.2210085954, abs=1e-9)
    assert result["minimum"][0] == pytest.approx(0.2443622934, abs=1e-9)
    assert result["maximum"][0] == pytest.approx(0.7612256744, abs=1e-9)


def test_a_family_asks_for_a_condition_and_takes_it(tmp_path):
    slip = TOY.replace("mu_static = 0.4\n", "").replace("position = [0, 0]", "position = [0.4, 0]")
    done = periodic(tmp_path, slip)
    assert done.returncode == 1 and "condition" in json.loads(done.stdout)["message"]
    done = periodic(tmp_path, slip, "--set", "periodic.phase=v_x", "--set", "periodic.condition=period - 1.3848432581")
    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert result["minimum"][0] == pytest.approx(0.4285192018, abs=1e-9)
    assert result["maximum"][0] == pytest.approx(0.6476944244, abs=1e-9)


def test_branch_of_a_ball_on_a_table_turns_and_doubles_its_period(tmp_path):
    ball = """
[parameters]
Gamma = 0.9
[matrices]
coordinates = ["y"]
mass = [[1]]
stiffness = [[0]]
force = [-10]
[[contact]]
name = "table"
gap = "y - Gamma/10*sin(10*t)"
restitution = 0.8
[initial]
position = [0.083]
velocity = [3.14]
[periodic]
period = "2*pi/10"
method = "event"
start_periods = 100
"""
    pi = 3.141592653589793
    down = json.loads(periodic(tmp_path, ball, "--continue", "Gamma=0.9:0.3").stdout)["branch"]
    assert down["folds"][0] == pytest.approx(pi * 0.2 / 1.8, abs=1e-7)
    assert down["points"][0]["stable"] and not down["points"][-1]["stable"]
    up = json.loads(periodic(tmp_path, ball, "--continue", "Gamma=0.9:1.2").stdout)["branch"]
    exact = ((pi * 0.2 / 1.8) ** 2 + 4 * 1.64 ** 2 / 1.8 ** 4) ** 0.5
    doubling = [b["value"] for b in up["bifurcations"] if b["kind"] == "period_doubling"]
    assert doubling[0] == pytest.approx(exact, abs=1e-6)


def test_conservative_bounce_of_a_given_period(tmp_path):
    done = periodic(tmp_path, """
[matrices]
coordinates = ["y"]
mass = [[1]]
stiffness = [[100]]
force = [-10]
[[contact]]
name = "floor"
gap = "y"
restitution = 1
[initial]
position = [0.05]
[periodic]
autonomous = true
period = 0.2
phase = "v_y"
condition = "period - 0.2"
""")
    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert result["maximum"][0] == pytest.approx(0.0850815717680925, abs=1e-11)


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
    ("periodic.harmonics=5000", "must lie in [1, 2000]"),
    ("periodic.samples=1000000000", "at most 100000"),
])
def test_wrong_input_says_what_to_do(tmp_path, change, words):
    done = periodic(tmp_path, OSCILLATOR, "--set", change)
    assert done.returncode == 2 and words in done.stderr


def test_nothing_periodic_is_refused(tmp_path):
    done = periodic(tmp_path, OSCILLATOR.replace('"cos(omega*t)"', "0"))
    assert done.returncode == 2 and "autonomous" in done.stderr


def test_paper_law_without_direction_is_rejected(tmp_path):
    done = periodic(tmp_path, OSCILLATOR, "--set", "parameters.omega=0.8", "--set", "periodic.harmonics=9", "--set",
                    "periodic.law=min")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["status"] == "rejected" and not result["polished"]
    assert any(c["name"] == "dissipation_sign" and not c["ok"] for c in result["certificates"])


def test_degenerate_orbit_is_rejected_on_conditioning(tmp_path):
    done = periodic(tmp_path, OSCILLATOR, "--set", "parameters.omega=0.5", "--set", "friction.0.limit=0.1")
    assert done.returncode == 1 and "degenerate" in json.loads(done.stdout)["message"]


def test_stick_slip_on_a_belt_has_the_closed_form_period(tmp_path):
    done = periodic(tmp_path, """
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[100]]
[[friction]]
name = "belt"
on = "x"
limit = 3
static_limit = 4
surface_velocity = 0.1
[periodic]
autonomous = true
period = 0.7
""")
    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert result["period"] == pytest.approx(0.2 + 0.2 * (3.141592653589793 - 0.7853981633974483), abs=1e-10)
    assert result["stick_fraction"]["belt"] * result["period"] == pytest.approx(0.2, abs=1e-9)
    assert result["minimum"][0] == pytest.approx(0.03 - 2 ** 0.5 / 100, abs=1e-10)


# Closed form of one impact per period: impact speed and modulus of the multipliers.
@pytest.mark.parametrize("w, e, speed, modulus", [(2.6, 0.8, 0.5054399709, 0.8), (2.2, 0.5, 1.6623393634, 0.5)])
def test_impact_oscillator_has_its_impact_speed_and_multipliers(tmp_path, w, e, speed, modulus):
    done = periodic(tmp_path, f"""
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos({w}*t)"]
[[contact]]
name = "stop"
gap = "-x"
restitution = {e}
[initial]
position = [-0.3]
[periodic]
period = "2*pi/{w}"
method = "event"
start_periods = 100
""")
    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    impulse = float((tmp_path / "out/events.csv").read_text().splitlines()[1].split(",")[-1])
    assert impulse / (1 + e) == pytest.approx(speed, abs=1e-9)
    for re, im in result["multipliers"]:
        assert (re * re + im * im) ** 0.5 == pytest.approx(modulus, abs=1e-7)
