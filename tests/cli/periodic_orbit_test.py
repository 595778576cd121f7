# SPDX-License-Identifier: Apache-2.0
"""Single periodic motions from outside: the smallest period, certificates that blame the right one, messages."""
import csv
import json
import math
import os
import subprocess

import pytest

PROGRAM = os.environ.get("STICKSLIP", "build/release/bin/stickslip")


def periodic(folder, text, *arguments):
    (folder / "model.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "model.toml", "--json", "--out", "out", *arguments], cwd=folder,
                          capture_output=True, text=True, timeout=120)
    return done, json.loads(done.stdout) if done.stdout.startswith("{") else None


MASS, DAMPING, STIFFNESS, STATIC, DYNAMIC, SPEED = 2.5, 0.8, 90.0, 17.0, 11.0, 0.35
BELT = f"""
[matrices]
coordinates = ["x"]
mass = [[{MASS}]]
damping = [[{DAMPING}]]
stiffness = [[{STIFFNESS}]]
[[friction]]
name = "belt"
on = "x"
limit = {DYNAMIC}
static_limit = {STATIC}
surface_velocity = {SPEED}
[periodic]
autonomous = true
period = 3
"""


def belt_period():
    """Slip from the static limit until the mass has the speed of the belt again, then stick."""
    begin, rest = (STATIC - DAMPING * SPEED) / STIFFNESS, DYNAMIC / STIFFNESS
    decay = DAMPING / (2 * MASS)
    omega = math.sqrt(STIFFNESS / MASS - decay**2)
    a, b = begin - rest, (SPEED + decay * (begin - rest)) / omega

    def motion(t):
        c, s, e = math.cos(omega * t), math.sin(omega * t), math.exp(-decay * t)
        x = e * (a * c + b * s)
        return rest + x, -decay * x + e * omega * (b * c - a * s)

    low, high = math.pi / omega, 2 * math.pi / omega  # slower than the belt there, and faster
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if motion(middle)[1] < SPEED else (low, middle)
    return low + (begin - motion(low)[0]) / SPEED


@pytest.mark.parametrize("guess", [1, 3, 3.3, 5, 12])
def test_the_period_of_a_belt_is_the_smallest_one(tmp_path, guess):
    done, result = periodic(tmp_path, BELT, "--set", f"periodic.period={guess}")
    assert done.returncode == 0, done.stderr
    assert result["period"] == pytest.approx(belt_period(), rel=1e-9)


PLANE = """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[40, 0], [0, 15]]
damping = [[0.2, 0], [0, 0.2]]
force = ["10*cos(1.3*t)", "6*sin(1.3*t + 0.9)"]
[[friction]]
on = ["x", "y"]
limit = 7
[periodic]
period = "2*pi/1.3"
"""


def test_an_orbit_is_not_blamed_for_the_error_of_the_fixed_step_scheme(tmp_path):
    # Amplitudes and sticking by an integration of its own, apart from the program.
    done, result = periodic(tmp_path, PLANE)
    assert done.returncode == 0, done.stderr
    assert result["amplitude"] == pytest.approx([0.12543186, 0.02210888], abs=2e-8)
    assert result["stick_fraction"]["friction1"] == pytest.approx(0.4724787, abs=1e-6)
    assert all(c["ok"] for c in result["certificates"])


OSCILLATOR = """
[parameters]
omega = 0.7
c = 0.4
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos(omega*t)"]
[[friction]]
on = "x"
limit = "c"
[periodic]
period = "2*pi/omega"
"""


def test_both_ends_of_numbers_of_functions_are_told(tmp_path):
    for value in (0, 2001):
        done, _ = periodic(tmp_path, OSCILLATOR, "--set", f"periodic.harmonics={value}")
        assert done.returncode == 2 and f"harmonics = {value} must lie in [1, 2000]" in done.stderr
    done, _ = periodic(tmp_path, OSCILLATOR, "--set", "periodic.steps=7")
    assert done.returncode == 2 and "must lie in [8, 20000]" in done.stderr


def test_numbers_without_a_fraction_are_no_parameter_of_a_branch(tmp_path):
    done, _ = periodic(tmp_path, OSCILLATOR, "--continue", "periodic.harmonics=5:10")
    assert done.returncode == 2 and "every value between" in done.stderr
    assert not (tmp_path / "out").exists()


def test_excitation_beyond_the_harmonics_is_told(tmp_path):
    model = OSCILLATOR.replace("cos(omega*t)", "cos(omega*t) + 0.2*sin(5*omega*t)")
    for harmonics, told in ((3, True), (7, False)):
        done, result = periodic(tmp_path, model, "--set", "periodic.polish=false", "--set",
                                f"periodic.harmonics={harmonics}")
        assert done.returncode == 0, done.stderr
        assert any("0.2 of the excitation" in note for note in result["notes"]) == told


def test_few_harmonics_have_samples_enough_for_the_kinks_of_laws(stickslip):
    """One harmonic of a mass on a slider with a spring in series, amplitude 1: damping by the loop, 4 c (A - c/k)/(2 π k_eff A²)."""
    stickslip.write("mode.toml", """
[matrices]
coordinates = ["x"]
mass = [[1.2]]
stiffness = [[50]]
[[friction]]
on = "x"
limit = 3
stiffness = 80
[periodic]
period = 1
harmonics = 1
mode = { number = 1, coordinate = "x", from = 0.01, to = 1, points = 12, sticking = true }
""")
    assert stickslip("periodic", "mode.toml", "--out", "mode").returncode == 0
    with open(stickslip.folder / "mode/mode.csv") as table:
        last = list(csv.DictReader(table))[-1]
    assert float(last["damping"]) == pytest.approx(0.036062, rel=2e-3)
