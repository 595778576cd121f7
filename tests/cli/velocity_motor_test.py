# SPDX-License-Identifier: Apache-2.0
"""Motors that aim at a velocity: with a gain that a step cannot follow, and without one."""

import csv

import pytest

INERTIA, TARGET, LIMIT = 0.01, 5.07, 2.0


def rotor(keys, step=1e-3, extra="", end=0.1, scheme="moreau"):
    return f"""
[[body]]
name = "rotor"
mass = 1.0
inertia = [{INERTIA}, {INERTIA}, {INERTIA}]
[[hinge]]
name = "axle"
parent = "ground"
child = "rotor"
axes = ["rz"]
[[motor]]
name = "drive"
on = "axle.rz"
velocity = {TARGET}
{keys}
{extra}
[run]
scheme = "{scheme}"
step = {step}
tolerance = 1e-9
end_time = {end}
"""


def speeds(stickslip, text):
    summary = stickslip.json("run", stickslip.write("rotor.toml", text), "--out", "out")
    assert summary["status"] == "success", summary["message"]
    with open(stickslip.folder / "out" / "trajectory.csv") as file:
        return [(float(row["t"]), float(row["v_axle.rz"]), row) for row in csv.DictReader(file)]


@pytest.mark.parametrize("damping", [5, 30, 300, 3000])
def test_stiff_gains_do_not_ring(stickslip, damping):
    """h d/J from 0.5 to 300: after one swing past the target, of a step at most, it is there and stays."""
    run = speeds(stickslip, rotor(f"damping = {damping}"))
    assert abs(run[-1][1] - TARGET) < 1e-6 * TARGET
    late = [v for t, v, _ in run if t > 0.01]
    assert max(abs(v - TARGET) for v in late) < 0.02 * TARGET


def test_a_gain_with_a_limit_accelerates_and_stays(stickslip):
    run = speeds(stickslip, rotor(f"damping = 100\nlimit = {LIMIT}"))
    for t, v, _ in run:
        assert v <= TARGET + 1e-3 * LIMIT / INERTIA / 2 + 1e-9
        if t <= 0.025:
            assert v == pytest.approx(LIMIT / INERTIA * t, abs=1e-9)
        if t > 0.03:
            assert v == pytest.approx(TARGET, rel=1e-9)


@pytest.mark.parametrize("scheme", ["moreau", "event"])
def test_the_ideal_drive_gives_its_limit_and_then_holds_its_velocity(stickslip, scheme):
    """Without a gain: v = min(limit t/J, target), exactly the target from then on, with dry friction of 0.5 N m beside it."""
    friction = '[[friction]]\nname = "dry"\non = "axle.rz"\nlimit = 0.5'
    run = speeds(stickslip, rotor(f"limit = {LIMIT}", extra=friction, scheme=scheme))
    ramp = (LIMIT - 0.5) / INERTIA
    for t, v, row in run:
        assert v == pytest.approx(min(ramp * t, TARGET), abs=2e-9 if scheme == "event" else 1e-8)
    assert run[-1][1] == TARGET
    assert float(run[-1][2]["r_drive"]) == pytest.approx(0.5, rel=1e-9)
    assert float(run[-1][2]["r_dry"]) == pytest.approx(-0.5, rel=1e-9)


def test_a_drive_without_gain_and_limit_is_refused(stickslip):
    result = stickslip("check", stickslip.write("rotor.toml", rotor("")))
    assert result.returncode == 2 and "motor.drive" in result.stderr and "limit" in result.stderr
