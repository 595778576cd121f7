# SPDX-License-Identifier: Apache-2.0
"""Closed forms of periodic motions that nobody chose to be kind: odd units, stops on both sides, circles, subharmonics."""
import json
import math
import subprocess

import pytest
from conftest import PROGRAM


def solved(folder, text):
    (folder / "m.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "m.toml", "--json", "--out", "out"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout[:2000]
    return json.loads(done.stdout)


def den_hartog(b, f):
    V, U = 1 / (1 - b * b), math.tan(math.pi / (2 * b)) / b
    return math.sqrt(V * V - f * f * U * U)


def forced(b, limits, L=1.0, M=1.0, T=1.0):
    force = M * L / T**2
    laws = "".join(f'[[friction]]\non = "x1"\nlimit = {f * force:.17g}\n' for f in limits)
    return (f'[matrices]\nmass = [[{M}]]\nstiffness = [[{M / T**2:.17g}]]\nforce = ["{force:.17g}*cos({b / T:.17g}*t)"]\n{laws}'
            f"[periodic]\nperiod = {2 * math.pi / b * T:.17g}\n")


@pytest.mark.parametrize("units", [(1e-6, 1e6, 1), (1e6, 1e-6, 1e-6), (1, 1, 1e6), (1e-6, 1e-6, 1e-6)])
def test_den_hartog_in_odd_units(tmp_path, units):
    result = solved(tmp_path, forced(0.8, [0.4], *units))
    assert result["polished"] and result["amplitude"][0] / units[0] == pytest.approx(den_hartog(0.8, 0.4), rel=1e-12)


def test_two_laws_on_one_coordinate_add_up(tmp_path):
    assert solved(tmp_path, forced(0.8, [0.25, 0.15]))["amplitude"][0] == pytest.approx(den_hartog(0.8, 0.4), rel=1e-12)


@pytest.mark.parametrize("L, T", [(1, 1), (1e-6, 1e6), (1e6, 1e-6)])
def test_impact_oscillator_in_odd_units(tmp_path, L, T):
    w, e = 2.6, 0.8
    result = solved(tmp_path, f"""[matrices]
coordinates = ["x"]
mass = [[2]]
stiffness = [[{2 / T**2:.17g}]]
force = ["{2 * L / T**2:.17g}*cos({w / T:.17g}*t)"]
[[contact]]
name = "stop"
gap = "-x"
restitution = {e}
[initial]
position = [{-0.3 * L}]
[run]
scheme = "event"
end_time = {60 * T}
[periodic]
period = {2 * math.pi / w * T:.17g}
""")
    V, d, half = 1 / (1 - w * w), (1 - e) / ((1 + e) * w), math.pi / w
    S = -math.sqrt(V * V / (1 / math.tan(half)**2 + d * d))
    phase = math.atan2(S * d / V, -S / math.tan(half) / V)
    place = lambda t: V * math.cos(w * t + phase) + S / math.tan(half) * math.cos(t) + S * math.sin(t)
    low, high = 0.0, 2 * half  # of one minimum between two impacts
    while high - low > 1e-9:
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if place(a) < place(b) else (a, high)
    assert result["minimum"][0] / L == pytest.approx(place(low), rel=1e-10)
    assert math.hypot(*result["multipliers"][0]) == pytest.approx(e, rel=1e-8)


def test_stops_on_both_sides(tmp_path):
    """x'' = a cos wt between -s and s: half of a period from stop to stop, then the same the other way."""
    w, a, s, e = 3.0, 4.0, 0.3, 0.6
    A, B = a / w, a / w**2
    g, h, m = (1 - e) / (1 + e) / A, math.pi / w / (2 * B), s / B
    u = (m * h + math.sqrt((m * h)**2 - (g * g + h * h) * (m * m - 1))) / (g * g + h * h)
    phase = math.atan2(-g * u, m - h * u) % (2 * math.pi)
    t0 = (phase - 2 * math.pi) / w  # of the last impact on the left before t = 0
    x = -s - B + B * math.cos(w * t0) - u * t0
    result = solved(tmp_path, f"""[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[0]]
force = ["{a}*cos({w}*t)"]
[[contact]]
name = "right"
gap = "{s} - x"
restitution = {e}
[[contact]]
name = "left"
gap = "x + {s}"
restitution = {e}
[initial]
position = [{x:.17g}]
velocity = [{u:.17g}]
[run]
scheme = "event"
end_time = 60
[periodic]
period = "2*pi/{w}"
method = "event"
start = "run"
start_periods = 1
""")
    assert result["polished"]
    impulses = [float(row.split(",")[5]) for row in (tmp_path / "out/events.csv").read_text().splitlines()[1:]]
    assert impulses == pytest.approx(2 * [(u + A * g * u) * (1 + e)], rel=1e-10)


@pytest.mark.parametrize("U", [1, 1e6, 1e-6])
def test_belt_with_a_static_limit_in_odd_times(tmp_path, U):
    result = solved(tmp_path, f"""[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[{100 / U**2:.17g}]]
[[friction]]
on = "x"
limit = {3 / U**2:.17g}
static_limit = {4 / U**2:.17g}
surface_velocity = {0.1 / U:.17g}
[run]
scheme = "event"
end_time = {20 * U}
[periodic]
autonomous = true
period = {0.6 * U}
start = "run"
""")
    D, v, w = 0.01, 0.1, 10
    assert result["period"] / U == pytest.approx(2 * D / v + 2 / w * (math.pi - math.atan(w * D / v)), rel=1e-11)
    assert result["maximum"][0] == pytest.approx(0.03 + math.hypot(D, v / w), rel=1e-10)


def test_a_force_that_turns_makes_a_circle(tmp_path):
    F, c, k, w = 1.0, 0.3, 4.0, 1.3
    result = solved(tmp_path, f"""[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[{k}, 0], [0, {k}]]
force = ["{F}*cos({w}*t)", "{F}*sin({w}*t)"]
[[friction]]
on = ["x", "y"]
limit = {c}
[periodic]
period = "2*pi/{w}"
""")
    assert result["amplitude"] == pytest.approx(2 * [math.sqrt(F * F - c * c) / (k - w * w)], rel=1e-10)


def test_a_ball_that_flies_through_two_periods_of_its_table(tmp_path):
    g, e, w, n = 9.81, 0.5, 20.0, 2
    gamma = 1.02 * n * math.pi * (1 - e) / (1 + e)
    A, v = gamma * g / w**2, n * math.pi * g / w
    result = solved(tmp_path, f"""[matrices]
coordinates = ["y"]
mass = [[1]]
stiffness = [[0]]
force = [{-g}]
[[contact]]
name = "table"
gap = "y - {A:.17g}*sin({w}*t)"
restitution = {e}
[initial]
position = [{1.5 * A:.17g}]
velocity = [{v:.17g}]
[run]
scheme = "event"
end_time = 10
[periodic]
period = "2*pi/{w}"
periods = 2
method = "event"
start = "run"
start_periods = 60
""")
    angle = math.acos(n * math.pi * (1 - e) / ((1 + e) * gamma))
    assert result["stable"] and result["maximum"][0] == pytest.approx(A * math.sin(angle) + v * v / (2 * g), rel=1e-11)


def test_a_bounce_without_loss_at_the_period_that_is_asked_for(tmp_path):
    result = solved(tmp_path, """[matrices]
coordinates = ["y"]
mass = [[1]]
stiffness = [[100]]
force = [-10]
[[contact]]
name = "floor"
gap = "y"
restitution = 1
[initial]
position = [0.08]
[run]
scheme = "event"
end_time = 1
[periodic]
autonomous = true
period = 0.2
phase = "v_y"
condition = "period - 0.2"
method = "event"
start = "run"
""")
    assert result["maximum"][0] == pytest.approx(0.1 / math.cos(1.0) - 0.1, rel=1e-11)
