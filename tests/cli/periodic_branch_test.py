# SPDX-License-Identifier: Apache-2.0
"""Branches of periodic motions from outside: special points, further branches, taking a branch up again."""
import json
import math
import os
import signal
import subprocess
import time

import pytest

PROGRAM = os.environ.get("STICKSLIP", "build/release/bin/stickslip")
OSCILLATOR = """
[parameters]
b = 0.6
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos(b*t)"]
[[friction]]
on = "x"
limit = 0.4
[periodic]
period = "2*pi/b"
"""
# Two masses, a unilateral spring: three motions between the folds near 0.656 and 0.755, on one branch that begins at 0.8.
SPRING = """
[parameters]
omega = 0.7
[matrices]
coordinates = ["x1", "x2"]
mass = [[1, 0], [0, 1]]
stiffness = [[1, -1], [-1, 2]]
damping = [[0.03, -0.03], [-0.03, 0.06]]
force = ["-100*max(x1 - 1, 0)", "0.1*cos(omega*t)"]
[periodic]
period = "2*pi/omega"
harmonics = 21
samples = 1024
polish = false
"""


def periodic(folder, text, *arguments):
    (folder / "model.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "model.toml", "--json", *arguments], cwd=folder, capture_output=True,
                          text=True)
    return done, json.loads(done.stdout) if done.stdout.startswith("{") else None


def values(result, kind):
    return [b["value"] for b in result["branch"]["bifurcations"] if b["kind"] == kind]


RESONANCE = """
[parameters]
w = 0.5
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
damping = [[0.02]]
force = ["cos(w*t)"]
[periodic]
period = "2*pi/w"
"""
# Folds by harmonic balance of 15 harmonics and the fold's own equations, apart from the program.
DUFFING = """
[parameters]
w = 1.6
[matrices]
coordinates = ["x"]
mass = [[1.5]]
stiffness = [[6.0]]
damping = [[0.12]]
force = ["0.5*cos(w*t) - 4*x^3"]
[periodic]
period = "2*pi/w"
"""


@pytest.mark.parametrize("way", ["w=0.5:2:0.05", "w=2:0.5:-0.05"])
@pytest.mark.parametrize("method", ["fourier", "event"])
def test_steps_grow_with_the_motion_over_a_resonance(tmp_path, way, method):
    done, result = periodic(tmp_path, RESONANCE, "--set", f"periodic.method={method}", "--continue", way, "--out", "out")
    assert done.returncode == 0, done.stderr
    points = result["branch"]["points"]
    assert 40 <= len(points) <= 200
    exact = [1 / math.hypot(1 - p["value"] ** 2, 0.02 * p["value"]) for p in points]
    assert [p["amplitude"][0] for p in points] == pytest.approx(exact, rel=1e-6)
    assert max(exact) > 0.98 * 50


@pytest.mark.parametrize("way", ["w=1.6:3.6:0.05", "w=3.6:1.6:-0.05"])
@pytest.mark.parametrize("method", ["fourier", "event"])
def test_steps_grow_with_the_motion_through_folds(tmp_path, way, method):
    done, result = periodic(tmp_path, DUFFING, "--set", f"periodic.method={method}", "--continue", way, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert 40 <= len(result["branch"]["points"]) <= 200
    assert sorted(values(result, "fold")) == pytest.approx([2.26363108, 2.87477867], abs=2e-8)


def test_a_pair_of_multipliers_leaves_the_circle_where_liouville_says(tmp_path):
    # y = 0: the product of its multipliers is exp(∮ mu - a x²), x = A cos(0.7 t + ..)
    done, result = periodic(tmp_path, """
[parameters]
mu = 0.05
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["cos(0.7*t) - 0.1*v_x - x", "(mu - 0.1*x^2)*v_y - y - y^3"]
[periodic]
period = "2*pi/0.7"
harmonics = 5
""", "--continue", "mu=0.05:0.4", "--out", "out")
    assert done.returncode == 0, done.stderr
    exact = 0.1 / abs(1 - 0.49 + 0.07j) ** 2 / 2
    assert values(result, "neimark_sacker") == [pytest.approx(exact, abs=1e-8)]
    points = result["branch"]["points"]
    assert points[0]["stable"] and not points[-1]["stable"]


def onset_of_sticking(f):
    """Den Hartog: the motion without stops ends where X = f max over t of S(t)."""
    def slack(b):
        V, U = 1 / (1 - b * b), math.tan(math.pi / (2 * b)) / b
        times = [math.pi / b * k / 20000 for k in range(1, 20000)]
        return math.sqrt(V * V - f * f * U * U) - f * max(
            [1 / b ** 2] + [(math.sin(t) + b * U * (math.cos(b * t) - math.cos(t))) / (b * math.sin(b * t)) for t in times])
    low, high = 0.52, 0.6
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if slack(middle) < 0 else (low, middle)
    return low


def test_sticking_begins_where_den_hartogs_motion_without_stops_ends(tmp_path):
    done, result = periodic(tmp_path, OSCILLATOR, "--continue", "b=0.6:0.5", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert values(result, "stick_onset") == [pytest.approx(onset_of_sticking(0.4), abs=1e-7)]


def test_grazing_of_a_linear_motion_with_its_stop(tmp_path):
    done, result = periodic(tmp_path, """
[parameters]
s = 0.4
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
damping = [[0.2]]
force = ["cos(2*t)"]
[[contact]]
name = "stop"
gap = "s - x"
restitution = 0.5
[periodic]
period = "pi"
""", "--continue", "s=0.4:0.31", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert values(result, "grazing") == [pytest.approx(1 / abs(1 - 4 + 0.4j), abs=1e-8)]


def impact_motion(w, e, s):
    """Speed of the impact and lowest place of the motions with one impact per period: x'' + x = cos wt, x <= s."""
    V, d, c = 1 / (1 - w * w), (1 - e) / ((1 + e) * w), 1 / math.tan(math.pi / w)
    root = math.sqrt((s * c) ** 2 - (c * c + d * d) * (s * s - V * V))
    found = []
    for S in ((s * c - root) / (c * c + d * d), (s * c + root) / (c * c + d * d)):
        phase = math.atan2(S * (1 - e) / (1 + e) / (V * w), (s - S * c) / V)
        times = [2 * math.pi / w * k / 4000 for k in range(4001)]
        place = lambda t: V * math.cos(w * t + phase) + S * c * math.cos(t) + S * math.sin(t)
        low = min(times, key=place)
        a, b = low - 2 * math.pi / w / 4000, low + 2 * math.pi / w / 4000
        for _ in range(60):
            p, q = a + (b - a) / 3, b - (b - a) / 3
            a, b = (a, q) if place(p) < place(q) else (p, b)
        found.append((-2 * S / (1 + e), place((a + b) / 2)))
    return found


@pytest.mark.parametrize("w, e, begin, to, end", [(2.6, 0.8, 0.25, 0.0, 0.0), (2.2, 0.5, 0.35, 0.1, 0.1), (1.5, 0.8, 1.0, 0.5, 1.0), (1.6, 0.5, 0.8, 0.3, 0.8)])
def test_a_branch_goes_on_behind_grazing(tmp_path, w, e, begin, to, end):
    """The stop comes nearer to a motion that does not touch it. With cot(pi/w) > 0 the motion with one impact goes on where the
    free one ends; with cot(pi/w) < 0 the branch turns back there."""
    done, result = periodic(tmp_path, f"""
[parameters]
s = {begin}
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos({w}*t)"]
[[contact]]
name = "stop"
gap = "s - x"
restitution = {e}
[initial]
position = [{1 / (1 - w * w):.17g}]
[periodic]
period = "2*pi/{w}"
method = "event"
start = "run"
start_periods = 1
""", "--continue", f"s={begin}:{to}", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert values(result, "grazing")[0] == pytest.approx(1 / (w * w - 1), abs=1e-7)
    rows = [row.split(",") for row in (tmp_path / "out/branch.csv").read_text().splitlines()]
    value, lowest = rows[0].index("value"), rows[0].index("minimum_x")
    last = rows[-1]
    assert float(last[value]) == end
    places = [place for speed, place in impact_motion(w, e, float(last[value])) if speed > 0]
    assert min(abs(float(last[lowest]) - place) for place in places) < 1e-9


def test_the_middle_motion_is_found_from_the_low_one(tmp_path):
    """Between the folds at 0.655 and 0.756, outside the range: the sheet's amplitudes of the fundamental of x2 and largest x1."""
    done, result = periodic(tmp_path, SPRING, "--continue", "omega=0.68:0.683:0.001", "--further", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    rows = [row.split(",") for row in (tmp_path / "out/branch.csv").read_text().splitlines()]
    value, largest, stable, branch = (rows[0].index(name) for name in ("value", "maximum_x1", "stable", "branch"))
    found = {row[branch]: (float(row[largest]), row[stable]) for row in rows[1:] if float(row[value]) == 0.68}
    assert found == {"0": (pytest.approx(0.57400286, abs=2e-6), "1"), "1": (pytest.approx(1.01248586, abs=2e-6), "0"),
                     "2": (pytest.approx(1.03999577, abs=2e-6), "1")}


def test_motions_that_the_branch_does_not_lead_to_are_found(tmp_path):
    ways = ("--continue", "omega=0.7:0.703:0.001")
    done, alone = periodic(tmp_path, SPRING, *ways, "--out", "alone")
    assert done.returncode == 0 and {p["branch"] for p in alone["branch"]["points"]} == {0}
    done, result = periodic(tmp_path, SPRING, *ways, "--further", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert {p["branch"] for p in result["branch"]["points"]} == {0, 1, 2}
    # Largest x1 at 0.7 of the motions that touch the stop: 1.02119984 and 1.04878106, whichever is found first
    rows = [row.split(",") for row in (tmp_path / "out/branch.csv").read_text().splitlines()]
    value, largest, branch = (rows[0].index(name) for name in ("value", "maximum_x1", "branch"))
    at_begin = {row[branch]: float(row[largest]) for row in rows[1:] if float(row[value]) == 0.7}
    assert at_begin["0"] == pytest.approx(0.43372862, abs=1e-6)
    assert sorted([at_begin["1"], at_begin["2"]]) == pytest.approx([1.02119984, 1.04878106], abs=1e-6)


def test_a_branch_that_was_stopped_goes_on(tmp_path):
    (tmp_path / "model.toml").write_text(OSCILLATOR)
    whole = subprocess.run([PROGRAM, "periodic", "model.toml", "--json", "--continue", "b=0.6:0.45:0.0005", "--out", "whole"],
                           cwd=tmp_path, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    run = subprocess.Popen([PROGRAM, "periodic", "model.toml", "--json", "--continue", "b=0.6:0.45:0.0005", "--out", "part"],
                           cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and (not (tmp_path / "part/branch.csv").exists() or
                                  (tmp_path / "part/branch.csv").read_text().count("\n") < 10):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate()
    if run.returncode == 0:
        pytest.skip("the branch was at its end before the signal")
    stopped = json.loads(out)
    kept = len(stopped["branch"]["points"])
    assert run.returncode == 1 and stopped["status"] == "interrupted" and kept >= 9
    assert all(p["stable"] is not None for p in stopped["branch"]["points"])  # none is half done
    done, result = periodic(tmp_path, OSCILLATOR, "--continue", "b=0.6:0.45:0.0005", "--restart", "part")
    assert done.returncode == 0, done.stderr
    points = result["branch"]["points"]
    assert points[:kept] == [{**p} for p in stopped["branch"]["points"]] and points[-1]["value"] == 0.45
    reference = json.loads(whole.stdout)
    assert points[-1]["amplitude"][0] == pytest.approx(reference["branch"]["points"][-1]["amplitude"][0], abs=1e-9)
    assert values(result, "stick_onset") == [pytest.approx(values(reference, "stick_onset")[0], abs=1e-7)]
    assert (tmp_path / "part/branch.csv").read_text().count("\n") == len(points) + 1
    # An end that lies behind it already, and another branch, are refused, and nothing is lost.
    done, _ = periodic(tmp_path, OSCILLATOR, "--continue", "b=0.6:0.5:0.0005", "--restart", "part")
    assert done.returncode == 2 and "already" in done.stderr
    assert (tmp_path / "part/branch.csv").read_text().count("\n") == len(points) + 1
    done, _ = periodic(tmp_path, OSCILLATOR, "--continue", "friction.friction1.limit=0.4:0.5", "--restart", "part")
    assert done.returncode == 2 and "another branch" in done.stderr
    done, _ = periodic(tmp_path, OSCILLATOR, "--restart", "part")
    assert done.returncode == 2 and "--continue" in done.stderr


def test_an_orbit_of_an_earlier_result_starts_the_next_one(tmp_path):
    done, first = periodic(tmp_path, OSCILLATOR, "--out", "first")
    assert done.returncode == 0, done.stderr
    text = OSCILLATOR + 'start = "file"\nstart_file = "first/orbit.csv"\n'
    done, again = periodic(tmp_path, text, "--out", "again")
    assert done.returncode == 0, done.stderr
    assert again["amplitude"][0] == pytest.approx(first["amplitude"][0], abs=1e-12)
    done, _ = periodic(tmp_path, text.replace("first/", "missing/"), "--out", "again")
    assert done.returncode == 2 and "missing/orbit.csv" in done.stderr


def test_hill_and_monodromy_are_both_told(tmp_path):
    done, result = periodic(tmp_path, """
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["0.3*cos(1.2*t) - 0.1*v_x - x - x^3"]
[periodic]
period = "2*pi/1.2"
harmonics = 11
""", "--out", "out")
    assert done.returncode == 0, done.stderr
    moduli = [sorted(math.hypot(*v) for v in result[key]) for key in ("multipliers", "hill")]
    assert moduli[0] == [pytest.approx(m, abs=1e-6) for m in moduli[1]]
    # Liouville: their product
    assert math.prod(moduli[0]) == pytest.approx(math.exp(-0.1 * 2 * math.pi / 1.2), abs=1e-8)


def test_rest_where_a_motion_was_asked_for_is_told(tmp_path):
    # Every position between -0.5 and 0.5 is one.
    done, result = periodic(tmp_path, OSCILLATOR.replace("limit = 0.4", "limit = 1.5"), "--out", "out")
    assert done.returncode == 0 and result["status"] == "success" and result["amplitude"] == [0]
    assert any("nothing moves" in note for note in result["notes"])


def test_an_orbit_with_impacts_is_not_judged_by_its_harmonics(tmp_path):
    done, result = periodic(tmp_path, """
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
damping = [[0.1]]
force = ["cos(0.8*t)"]
[[contact]]
gap = "0.5 - x"
restitution = 0
[periodic]
period = "2*pi/0.8"
""", "--out", "out")
    assert done.returncode == 0 and result["polished"], done.stderr
    assert result["maximum"][0] == pytest.approx(0.5, abs=1e-12)


def test_newton_that_fails_from_the_linear_response_starts_from_a_run(tmp_path):
    text = """
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["0.3*cos(1.2*t) - 0.1*v_x - x - x^3"]
[periodic]
period = "2*pi/1.2"
"""
    done, polished = periodic(tmp_path, text, "--out", "out")
    assert done.returncode == 0, done.stderr
    done, harmonic = periodic(tmp_path, text + "polish = false\n", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert harmonic["amplitude"][0] == pytest.approx(polished["amplitude"][0], rel=1e-8)


TABLE = """
[parameters]
A = 0.0015
[matrices]
coordinates = ["y"]
mass = [[0.4]]
force = [-3.924]
[[contact]]
name = "table"
gap = "y - A*sin(60*t)"
restitution = 0.8
[periodic]
period = "2*pi/60"
method = "event"
start = "run"
start_periods = 300
[initial]
position = [0.002]
velocity = [0.4]
"""


def test_a_motion_that_laws_leave_no_freedom_is_followed(tmp_path):
    # It rides on the table, up to the acceleration of gravity at A = 9.81/3600.
    done, result = periodic(tmp_path, TABLE, "--continue", "A=0.0015:0.0027:0.0002", "--out", "out")
    assert done.returncode == 0, done.stderr
    points = result["branch"]["points"]
    assert [p["amplitude"][0] for p in points] == pytest.approx([p["value"] for p in points], rel=1e-9)
    assert points[-1]["value"] == 0.0027
