# SPDX-License-Identifier: Apache-2.0
"""Structures in `stickslip periodic` from outside: elastic friction, reduced models, sectors, nonlinear modes."""
import json
import math
import os
import subprocess

import pytest

PROGRAM = os.environ.get("STICKSLIP", "build/release/bin/stickslip")
CHAIN = 40
ELASTIC = """
[parameters]
omega = 1.4
P = 1.0
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
damping = [[0.01]]
force = ["P*cos(omega*t)"]
[[friction]]
name = "slider"
on = "x"
limit = 0.3
stiffness = 1
[periodic]
period = "2*pi/omega"
harmonics = 25
"""


def chain(reduce):
    """Springs and masses in a row, friction in the middle, a force at the end."""
    return f"""
[parameters]
omega = 0.1
[matrices]
size = {CHAIN}
mass = {{ diagonal = 1 }}
stiffness = {{ tridiagonal = [-1, 2, -1] }}
damping = {{ tridiagonal = [-0.02, 0.04, -0.02] }}
force = {{ x{CHAIN} = "0.3*cos(omega*t)" }}
{reduce}
[[friction]]
name = "pad"
on = "x20"
limit = 0.005
[periodic]
period = "2*pi/omega"
harmonics = 9
"""


SECTOR = """
[matrices]
coordinates = ["blade", "left", "right"]
mass = [[1, 0, 0], [0, 1.5, 0], [0, 0, 0.5]]
stiffness = [[1, -1, 0], [-1, 4.5, -3], [0, -3, 3]]
damping = [[0.02, -0.02, 0], [-0.02, 0.09, -0.06], [0, -0.06, 0.06]]
force = { blade = "cos(1.3*t)" }
[[friction]]
on = "blade"
limit = 0.2
stiffness = 2
[periodic]
period = "2*pi/1.3"
harmonics = 5
cyclic = { sectors = 6, diameter = 2, left = ["left"], right = ["right"] }
"""


def call(folder, command, text, *arguments):
    (folder / "model.toml").write_text(text)
    return subprocess.run([PROGRAM, command, "model.toml", "--json", *arguments], cwd=folder, capture_output=True, text=True)


def solved(folder, text, *arguments):
    done = call(folder, "periodic", text, "--out", "out", *arguments)
    assert done.returncode == 0, done.stderr + done.stdout[:2000]
    return json.loads(done.stdout)


def test_elastic_friction_runs_and_repeats(tmp_path):
    result = solved(tmp_path, ELASTIC)
    # A long run of the fixed-step scheme.
    run = '[run]\nscheme = "moreau"\nend_time = "80*2*pi/omega"\nsteps = 24000\n'
    done = call(tmp_path, "run", ELASTIC + run, "--out", "run")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["internal"] == ["slider.d1"] and abs(summary["final"]["internal"][0]) <= 0.3 + 1e-12
    rows = (tmp_path / "run/trajectory.csv").read_text().splitlines()[-300:]
    x = [float(row.split(",")[1]) for row in rows]
    assert result["amplitude"][0] == pytest.approx((max(x) - min(x)) / 2, rel=1e-3)
    # The same by located events, and by the other schemes that take a model without contacts.
    done = call(tmp_path, "run", ELASTIC + run, "--scheme", "event", "--out", "event")
    assert done.returncode == 0, done.stderr
    exact = json.loads(done.stdout)
    assert exact["internal"] == ["slider.d1"]
    for key in ("position", "velocity", "internal"):
        assert exact["final"][key][0] == pytest.approx(summary["final"][key][0], abs=2e-4)
    for scheme, near in (("splitting", 2e-2), ("viscoelastic", 1e-4)):  # order 1 of the force's half; O(epsilon)
        done = call(tmp_path, "run", ELASTIC + run, "--scheme", scheme, "--out", scheme)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["final"]["position"][0] == pytest.approx(exact["final"]["position"][0], abs=near)


def test_elastic_friction_is_polished(tmp_path):
    result = solved(tmp_path, ELASTIC)
    assert result["polished"] and result["stable"] and result["residual"] < 1e-9
    # Energy of one period: the force puts in what damper and slider take, 4 F (A - F/k) in the loop (tests of the loop's area).
    rows = [[float(x) for x in row.split(",")] for row in (tmp_path / "out/orbit.csv").read_text().splitlines()[1:]]
    t, x, v, r = ([row[k] for row in rows] for k in range(4))
    step = [b - a for a, b in zip(t, t[1:])]
    slider = -sum(h * (r[k] * v[k] + r[k + 1] * v[k + 1]) / 2 for k, h in enumerate(step))
    amplitude = result["amplitude"][0]
    assert slider == pytest.approx(4 * 0.3 * (amplitude - 0.3), rel=2e-4)
    # Harmonics alone come near.
    harmonics = solved(tmp_path, ELASTIC, "--set", "periodic.polish=false")
    assert harmonics["amplitude"][0] == pytest.approx(amplitude, rel=1e-4)


def test_a_stiff_spring_in_series_is_den_hartogs_friction(tmp_path):
    text = ELASTIC.replace("damping = [[0.01]]\n", "").replace("omega = 1.4", "omega = 0.7").replace("limit = 0.3", "limit = 0.4")
    # The way of a reversal takes a time like the square root of the spring's.
    errors = [1 - solved(tmp_path, text, "--set", f"friction.0.stiffness={k}")["amplitude"][0] / 1.8251665659
              for k in (1e4, 1e6)]
    assert 0 < errors[1] < 4e-4 and errors[0] / errors[1] == pytest.approx(10, rel=0.05)


def test_elastic_friction_beside_rigid_friction_is_polished(tmp_path):
    text = ELASTIC.replace("[periodic]", '[[friction]]\nname = "rigid"\non = "x"\nlimit = 0.1\n[periodic]')
    result = solved(tmp_path, text)
    assert result["polished"] and result["stable"]
    run = '[run]\nscheme = "moreau"\nend_time = "60*2*pi/omega"\nsteps = 24000\n'
    done = call(tmp_path, "run", text + run, "--out", "run")
    assert done.returncode == 0, done.stderr
    x = [float(row.split(",")[1]) for row in (tmp_path / "run/trajectory.csv").read_text().splitlines()[-400:]]
    assert result["amplitude"][0] == pytest.approx((max(x) - min(x)) / 2, rel=1e-3)


def test_stiffness_that_is_none_is_refused(tmp_path):
    done = call(tmp_path, "check", ELASTIC.replace("stiffness = 1\n[periodic]", "stiffness = -1\n[periodic]"))
    assert done.returncode == 2 and "friction.slider.stiffness" in done.stderr


def test_reduced_model_answers_like_the_whole(tmp_path):
    whole = solved(tmp_path, chain(""))
    # Friction jumps, and every jump excites all modes: what is left out is felt as O(1/modes), with all of them nothing is.
    for modes, bound in ((CHAIN - 2, 1e-9), (20, 2e-3), (6, 2e-2)):
        part = solved(tmp_path, chain(f'reduce = {{ keep = ["x20", "x{CHAIN}"], modes = {modes} }}'))
        assert whole["polished"] and part["polished"]
        assert part["coordinates"] == ["x20", f"x{CHAIN}"] + [f"mode{k}" for k in range(1, modes + 1)]
        for ours, name in ((0, "x20"), (1, f"x{CHAIN}")):
            theirs = whole["amplitude"][whole["coordinates"].index(name)]
            assert part["amplitude"][ours] == pytest.approx(theirs, rel=bound)
    done = subprocess.run([PROGRAM, "check", "model.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert f"reduced from {CHAIN} coordinates to 2 kept and 6 modes" in done.stdout
    wrong = call(tmp_path, "check", chain('reduce = { keep = ["x99"] }'))
    assert wrong.returncode == 2 and "x99" in wrong.stderr


def test_sector_of_a_ring(tmp_path):
    result = solved(tmp_path, SECTOR)
    assert not result["polished"] and result["amplitude"][1] == pytest.approx(result["amplitude"][2], rel=1e-9)
    wrong = call(tmp_path, "periodic", SECTOR.replace('on = "blade"', 'on = "right"'), "--out", "out")
    assert wrong.returncode == 2 and "right cut" in wrong.stderr


def test_nonlinear_mode(tmp_path):
    text = ELASTIC.replace("harmonics = 25", "harmonics = 9\nmode = { from = 20, to = 0.05, points = 30 }")
    result = solved(tmp_path, text)
    points = result["mode"]["points"]
    assert len(points) == 30 and result["mode"]["coordinate"] == "x"
    # Far above the limit the slider hardly counts; below it, its spring and the damper alone do.
    assert points[0]["frequency"] == pytest.approx(1, abs=0.02)
    assert points[-1]["frequency"] == pytest.approx(math.sqrt(2), rel=1e-6)
    assert points[-1]["damping"] == pytest.approx(0.01 / (2 * math.sqrt(2)), rel=1e-4)
    assert max(p["damping"] for p in points) > 0.05
    assert result["mode"]["response"]
    assert (tmp_path / "out/mode.csv").read_text().startswith("amplitude,frequency,damping,residual,amplitude_x,stick_slider")
    assert "Backbone" in (tmp_path / "out/report.html").read_text()


WALL = """
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
{}
[periodic]
period = 6.28
mode = {{ number = 1, from = 0.5, to = 3, points = 6 }}
"""


def test_a_mode_takes_no_contact_but_the_spring_that_its_message_names(tmp_path):
    refused = call(tmp_path, "periodic", WALL.format('[[contact]]\ngap = "1 - x"\nrestitution = 0'))
    assert refused.returncode == 2 and "take no [[contact]]" in refused.stderr
    force = refused.stderr.split('as in "')[1].split('"')[0]
    taken = call(tmp_path, "periodic", WALL.format(f'force = ["{force}"]'))
    assert taken.returncode == 0, taken.stderr


def test_a_large_model_is_answered_by_harmonics_and_says_why(tmp_path):
    """The event scheme factors full matrices at one go: no signal would be heard for minutes."""
    n = 1100
    def matrix(name, entries):
        lines = [f"{i} {j} {value:.17g}" for i, j, value in entries]
        (tmp_path / name).write_text("%%MatrixMarket matrix coordinate real symmetric\n" + f"{n} {n} {len(lines)}\n" + "\n".join(lines) + "\n")
    matrix("m.mtx", [(i, i, 1 / n) for i in range(1, n + 1)])
    springs = [(i, i, (2 if i < n else 1) * n) for i in range(1, n + 1)] + [(i + 1, i, -n) for i in range(1, n)]
    matrix("k.mtx", springs)
    matrix("d.mtx", [(i, j, 0.02 * value) for i, j, value in springs])
    text = (f'[matrices]\nmass = "m.mtx"\nstiffness = "k.mtx"\ndamping = "d.mtx"\n[matrices.force]\nx{n} = "0.1*cos(1.3*t)"\n'
            f'[[friction]]\non = "x{n // 2}"\nlimit = 0.03\n[periodic]\nperiod = "2*pi/1.3"\nharmonics = 3\n')
    result = solved(tmp_path, text)
    assert not result["polished"]
    assert any(f"{n} coordinates" in note and "reduce" in note for note in result["notes"])
