# SPDX-License-Identifier: Apache-2.0
"""Special points of branches are roots of what they are told by, with multipliers that agree; jumps are none."""
import json
import math
import subprocess

import pytest
from conftest import PROGRAM

IMPACT = """[parameters]
w = 2.6
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos(w*t)"]
[[contact]]
name = "stop"
gap = "-x"
restitution = 0.8
[periodic]
period = "2*pi/w"
"""


def solved(folder, text, *more, code=0):
    (folder / "m.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "m.toml", "--json", "--out", "out", *more], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stderr + done.stdout[:2000]
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr


def found(result):
    return [(b["kind"], b["value"]) for b in result["branch"]["bifurcations"]]


def one_impact_trace(w, e):
    """Of the monodromy of x'' + x = cos wt, x <= 0, one impact per period; its determinant is e²."""
    V, d, c = 1 / (1 - w * w), (1 - e) / ((1 + e) * w), 1 / math.tan(math.pi / w)
    S = -abs(V) / math.hypot(c, d)
    phase = math.atan2(S * (1 - e) / (1 + e) / (V * w), -S * c / V)
    speed, T = -2 * S / (1 + e), 2 * math.pi / w
    return -2 * e * math.cos(T) + (1 + e) * math.cos(phase) / speed * math.sin(T)


def doubling(e, low, high):
    test = lambda w: 1 + one_impact_trace(w, e) + e * e
    assert test(low) * test(high) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if test(middle) * test(low) > 0 else (low, middle)
    return low


@pytest.mark.parametrize("method", ["fourier", "event"])
def test_the_impact_oscillator_doubles_its_period_and_does_nothing_else(tmp_path, method):
    start = 'method = "event"\nstart = "run"\nstart_periods = 60\n' if method == "event" else ""
    result = solved(tmp_path, IMPACT + start, "--continue", "w=2.6:2.75")
    assert found(result) == [("period_doubling", pytest.approx(doubling(0.8, 2.6, 2.75), abs=1e-7))]
    trace = sum(v[0] for v in result["multipliers"])
    assert trace == pytest.approx(one_impact_trace(2.75, 0.8), abs=1e-7)


def test_nothing_is_reported_where_a_motion_begins_to_touch_but_grazing(tmp_path):
    text = IMPACT.replace('gap = "-x"', 'gap = "s - x"').replace("w = 2.6", "w = 2.6\ns = 0.4").replace("stiffness = [[1]]", "stiffness = [[1]]\ndamping = [[0.2]]")
    result = solved(tmp_path, text, "--continue", "s=0.2:0.15")
    graze = 1 / abs(1 - 2.6**2 + 0.52j)
    kinds = found(result)
    assert kinds[0] == ("grazing", pytest.approx(graze, abs=1e-7)), kinds
    for kind, value in kinds[1:]:  # whatever comes beside it is told by multipliers on both sides
        near = sorted(result["branch"]["points"], key=lambda p: abs(p["value"] - value))[:2]
        assert kind == "period_doubling" and near


@pytest.mark.parametrize("way, words", [
    ("w=2.6:2.7:-0.01", "leads away"), ("w=2.6:2.7:0", "leads nowhere"), ("w=2.6:2.7:0.2", "as long as the way"), ("w=2.6:2.6", "different")])
def test_steps_that_lead_nowhere_are_refused(tmp_path, way, words):
    assert words in solved(tmp_path, IMPACT, "--continue", way, code=2)
    _, ends = way.split("=")
    numbers = ends.split(":") + [""]
    table = f'continue = {{ parameter = "w", from = {numbers[0]}, to = {numbers[1]}' + (f", step = {numbers[2]} }}\n" if numbers[2] else " }\n")
    assert words in solved(tmp_path, IMPACT + table, code=2)


def test_a_step_may_carry_the_sign_of_the_way(tmp_path):
    down = solved(tmp_path, IMPACT, "--continue", "w=2.6:2.55:-0.01")
    same = solved(tmp_path, IMPACT, "--continue", "w=2.6:2.55:0.01")
    assert down["branch"]["points"] == same["branch"]["points"] and len(down["branch"]["points"]) > 3


def test_too_few_samples_names_what_is_enough(tmp_path):
    text = solved(tmp_path, IMPACT + "harmonics = 10\nsamples = 29\n", code=2)
    assert "3 per harmonic, 30" in text
    (tmp_path / "m.toml").write_text(IMPACT + "harmonics = 10\nsamples = 30\n")
    done = subprocess.run([PROGRAM, "periodic", "m.toml", "--json", "--out", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 1)  # taken


@pytest.mark.parametrize("method", ["fourier", "event"])
def test_a_branch_that_leaves_the_range_of_a_law_says_what_the_model_says(tmp_path, method):
    text = f"""[parameters]
b = 0.8
f = 0.4
[matrices]
mass = [[1]]
stiffness = [[1]]
force = ["cos(b*t)"]
[[friction]]
on = "x1"
limit = "f*sqrt(0.9 - b)"
[periodic]
period = "2*pi/b"
method = "{method}"
"""
    result = solved(tmp_path, text, "--continue", "b=0.8:0.95", code=1)
    assert result["branch"]["points"][-1]["value"] == pytest.approx(0.9, abs=1e-4)
    assert "limit" in result["message"] and "no finite value" in result["message"]


@pytest.mark.parametrize("method", ["fourier", "event"])
def test_extremes_of_a_branch_with_a_stop_are_those_of_the_motion(tmp_path, method):
    """A Duffing oscillator with a stop, integrated by classical Runge-Kutta with located impacts and turning points."""
    start = 'start = "run"\nstart_periods = 40\n' if method == "event" else ""
    solved(tmp_path, f"""[parameters]
w = 0.8
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["0.5*cos(w*t) - 0.1*v_x - x - x^3"]
[[contact]]
gap = "0.6 - x"
restitution = 0.6
[periodic]
period = "2*pi/w"
method = "{method}"
{start}""", "--continue", "w=0.8:0.9")
    rows = [row.split(",") for row in (tmp_path / "out/branch.csv").read_text().splitlines()]
    value, low, high = (rows[0].index(name) for name in ("value", "minimum_x", "maximum_x"))
    for row in (rows[1], rows[len(rows) // 2], rows[-1]):
        lowest, highest = duffing_extremes(float(row[value]), 0.6, 0.6)
        assert float(row[low]) == pytest.approx(lowest, abs=1e-9) and float(row[high]) == pytest.approx(highest, abs=1e-9)


def duffing_extremes(w, e, stop):
    """After forty periods."""
    def rate(t, x, v):
        return 0.5 * math.cos(w * t) - 0.1 * v - x - x**3

    def step(t, x, v, h):
        a = rate(t, x, v)
        b = rate(t + h / 2, x + h / 2 * v, v + h / 2 * a)
        c = rate(t + h / 2, x + h / 2 * (v + h / 2 * a), v + h / 2 * b)
        d = rate(t + h, x + h * (v + h / 2 * b), v + h * c)
        return x + h * v + h * h / 6 * (a + b + c), v + h / 6 * (a + 2 * b + 2 * c + d)

    def last(passed, h):
        low, high = 0.0, h
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if passed(middle) else (middle, high)
        return low

    period, t, x, v = 2 * math.pi / w, 0.0, 0.1, 0.1
    places = []
    while t < 41 * period:
        h = period / 2000
        nx, nv = step(t, x, v, h)
        if nx > stop:
            h = last(lambda s: step(t, x, v, s)[0] > stop, h)
            _, nv = step(t, x, v, h)
            nx, nv = stop, -e * nv
        elif v * nv < 0 and t > 40 * period:
            places.append(step(t, x, v, last(lambda s: step(t, x, v, s)[1] * v < 0, h))[0])
        x, v, t = nx, nv, t + h
        if t > 40 * period:
            places.append(x)
    return min(places), max(places)
