# SPDX-License-Identifier: Apache-2.0
"""Periodic motions that leave a place open and are found all the same: laws held through the whole period, motions that nothing
ties to a place, laws that share what holds."""
import json
import math
import subprocess

import pytest
from conftest import PROGRAM

DEN_HARTOG = math.sqrt((1 / 0.36) ** 2 - 0.16 * (math.tan(math.pi / 1.6) / 0.8) ** 2)  # b = 0.8, f = 0.4
WAYS = [("fourier", True), ("fourier", False), ("spline", True), ("stepping", True), ("stepping", False), ("event", True)]


def solved(folder, text, *more):
    (folder / "m.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "m.toml", "--json", "--out", "out", *more], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout[:2000]
    return json.loads(done.stdout)


def block(limits, method, polish, stiffness=1.0, unit=1.0, steps=128):
    laws = "".join(f'[[friction]]\non = "x1"\nlimit = {f * unit:.17g}\n' for f in limits)
    return (f'[matrices]\nmass = [[{unit:.17g}]]\nstiffness = [[{stiffness * unit:.17g}]]\nforce = ["{unit:.17g}*cos(0.8*t)"]\n{laws}'
            f'[periodic]\nperiod = "2*pi/0.8"\nmethod = "{method}"\npolish = {str(polish).lower()}\nsteps = {steps}\n')


@pytest.mark.parametrize("method, polish", WAYS)
def test_a_limit_above_the_load_holds(tmp_path, method, polish):
    for unit in (1, 1e-6, 1e6):
        result = solved(tmp_path, block([1.2], method, polish, unit=unit))
        assert result["amplitude"] == [0] and result["stick_fraction"]["friction1"] == 1
        assert any("nothing moves" in note for note in result["notes"])
        assert result["stable"]
        # What holds is the load and the spring at the place that was found, at all times.
        rows = [[float(x) for x in row.split(",")] for row in (tmp_path / "out/orbit.csv").read_text().splitlines()[1:]]
        for t, x, _, r, *_ in rows[1:]:
            assert abs(r) <= 1.2 * unit * (1 + 1e-9)
            assert r == pytest.approx(unit * (x - math.cos(0.8 * t)), abs=0.025 * unit)  # means over a step of 1/128 of the period


@pytest.mark.parametrize("method, polish", WAYS)
def test_one_mass_is_held_and_the_other_moves(tmp_path, method, polish):
    """x1 on a spring of 2 to x2 and the wall: Den Hartog's with ω_n = √2, P/k = 1/2; x2 bears the spring between them."""
    result = solved(tmp_path, f"""[matrices]
mass = [[1, 0], [0, 1]]
stiffness = [[2, -1], [-1, 2]]
force = ["cos(0.8*sqrt(2)*t)", "0"]
[[friction]]
on = "x1"
limit = 0.4
[[friction]]
name = "brake"
on = "x2"
limit = 5
[periodic]
period = "2*pi/(0.8*sqrt(2))"
method = "{method}"
polish = {str(polish).lower()}
steps = 128
""")
    near = 1e-10 if polish else 2e-2  # 15 harmonics, 128 steps
    assert result["amplitude"][0] == pytest.approx(DEN_HARTOG / 2, rel=near) and result["amplitude"][1] == pytest.approx(0, abs=1e-9)
    assert result["stick_fraction"]["brake"] == 1 and result["stable"]
    assert any("held through the whole period: 'brake'" in note for note in result["notes"])


@pytest.mark.parametrize("method, polish", WAYS)
def test_a_block_without_a_spring_slides_anywhere(tmp_path, method, polish):
    """v = 0 half a period apart: sin ωt0 = -πF/2P."""
    P, F, w = 1.0, 0.3, 0.8
    s = -math.pi * F / (2 * P)
    c = math.sqrt(1 - s * s)
    half = math.pi / w
    way = P / w**2 * 2 * c - P / w * s * half - F * half**2 / 2
    result = solved(tmp_path, block([F], method, polish, stiffness=0))
    assert result["amplitude"][0] == pytest.approx(abs(way) / 2, rel=1e-10 if polish else 2e-2)
    assert any("nothing refers to where" in note for note in result["notes"])


@pytest.mark.parametrize("method, polish", [("fourier", True), ("fourier", False), ("stepping", False)])
def test_two_laws_share_what_holds(tmp_path, method, polish):
    result = solved(tmp_path, block([0.7, 0.8], method, polish, steps=64))
    assert result["amplitude"] == [0]
    assert any("how they share the force is not" in note for note in result["notes"]) or polish


def test_a_branch_begins_at_rest_and_moves(tmp_path):
    text = ("[parameters]\nP = 0.5\n" + block([0.4], "fourier", True)).replace('"1*cos', '"P*cos')
    result = solved(tmp_path, text, "--continue", "P=0.3:1")
    points = result["branch"]["points"]
    assert points[0]["value"] == 0.3 and points[0]["amplitude"][0] == pytest.approx(0, abs=1e-12)
    assert points[-1]["value"] == 1 and points[-1]["amplitude"][0] == pytest.approx(DEN_HARTOG, rel=1e-9)


def test_an_open_motion_is_still_rejected(tmp_path):
    """b = 1/2: the second harmonic is open, which is a motion."""
    text = block([0.1], "fourier", True).replace("0.8", "0.5")
    (tmp_path / "m.toml").write_text(text)
    done = subprocess.run([PROGRAM, "periodic", "m.toml", "--json", "--out", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "conditioning" in json.loads(done.stdout)["message"]


@pytest.mark.parametrize("limit", [3, 30])
@pytest.mark.parametrize("method", ["fourier", "spline", "event"])
def test_a_slider_that_never_slips_is_a_spring(tmp_path, method, limit):
    """k = 2 in series with a limit that is never reached: (1 + 2 - w²) and 0.1 w i under a load of 1."""
    model = ('[matrices]\nmass = [[1]]\nstiffness = [[1]]\ndamping = [[0.1]]\nforce = ["cos(1.4*t)"]\n[[friction]]\non = "x1"\nlimit = {limit}\nstiffness = 2\n'
             '[periodic]\nperiod = "2*pi/1.4"\nmethod = "{method}"\n').replace("{limit}", str(limit)).replace("{method}", method)
    result = solved(tmp_path, model)
    amplitude = 1 / math.hypot(3 - 1.96, 0.14)
    assert result["amplitude"][0] == pytest.approx(amplitude, rel=1e-9)
    if method == "fourier" or limit == 30:  # the run slips at first, and the slider stays where that leads it
        assert result["maximum"][0] == pytest.approx(amplitude, rel=1e-9)
    assert result["polished"] and result["stable"] and result["stick_fraction"]["friction1"] == 1


def test_a_slider_that_slips_at_times_is_found_from_runs_and_harmonics_alike(tmp_path):
    model = ('[matrices]\nmass = [[1]]\nstiffness = [[1]]\ndamping = [[0.1]]\nforce = ["cos(1.4*t)"]\n[[friction]]\non = "x1"\nlimit = 1.2\nstiffness = 2\n'
             '[periodic]\nperiod = "2*pi/1.4"\n')
    results = [solved(tmp_path, model + f'method = "{method}"\n') for method in ("fourier", "event")]
    assert results[0]["amplitude"][0] == pytest.approx(results[1]["amplitude"][0], rel=1e-10)
    assert 0 < results[0]["stick_fraction"]["friction1"] < 1


@pytest.mark.parametrize("method", ["fourier", "spline", "stepping", "event"])
def test_a_load_that_just_reaches_the_limit_moves_nothing(tmp_path, method):
    for unit in (1, 1e-5):
        result = solved(tmp_path, block([1], method, True, unit=unit))
        assert result["amplitude"] == [0] and result["stick_fraction"]["friction1"] == 1
        assert any("its limit is reached" in note for note in result["notes"]), result["notes"]


@pytest.mark.parametrize("method", ["fourier", "spline", "stepping", "event"])
def test_a_load_just_above_the_limit_moves_a_little(tmp_path, method):
    """With c = P (1 - d) a mass at rest slips at both ends of the load, by about the same way for all methods."""
    result = solved(tmp_path, block([0.9999], method, True))
    assert result["polished"] and result["amplitude"][0] == pytest.approx(slip_of_a_stuck_mass(0.9999, 0.8) / 2, rel=1e-3)


def slip_of_a_stuck_mass(c, w):
    """Way from rest at x = -a to rest at x = a, x'' + x = cos wt - c as long as it slips forward; a by iteration."""
    a = 0.0
    for _ in range(100):  # x about -a: the spring helps
        t = -math.acos(c - a) / w
        x, v, h = -a, 0.0, 1e-5
        while True:
            k = lambda s, y: math.cos(w * s) - c - y
            k1v, k1x = k(t, x), v
            k2v, k2x = k(t + h / 2, x + h / 2 * k1x), v + h / 2 * k1v
            k3v, k3x = k(t + h / 2, x + h / 2 * k2x), v + h / 2 * k2v
            k4v, k4x = k(t + h, x + h * k3x), v + h * k3v
            nx, nv = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x), v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)
            if nv < 0:
                break
            x, v, t = nx, nv, t + h
        if abs(x - a) < 1e-6 * (abs(a) + 1e-30):
            break
        a = 0.5 * (a + x) if a else x / 2
    return 2 * a
