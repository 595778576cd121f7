# SPDX-License-Identifier: Apache-2.0
"""Shapes on nodes of flexible bodies: what a tip that rests on the ground carries, and energy through its impacts."""

import csv
import math

import pytest

E, IY, LENGTH, RADIUS = 7e10, 1.2e-8, 2.0, 0.05


def arm(ends, hinge, contact, modes, run):
    return f"""
[[body]]
name = "arm"
flexible = {{ kind = "beam", length = {LENGTH}, youngs_modulus = {E}, density = 2700, area = 4e-4, Iy = {IY}, motions = ["z"], elements = 8, {modes} }}
[[shape]]
body = "arm.tip"
kind = "sphere"
radius = {RADIUS}
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "touch"
between = ["arm.tip", "ground"]
{contact}
[[hinge]]
name = "root"
parent = "ground"
child = "arm"
position = [0, 0, {RADIUS}]
{hinge}
{ends}
[run]
scheme = "moreau"
{run}
"""


def test_a_tip_that_rests_on_the_ground_carries_what_its_deflection_says(stickslip):
    """The root comes down by w, the tip does not: F = 3 E I w/L^3, and the arm hangs down from its tip by the same w."""
    text = arm('[[motor]]\nname = "lower"\non = "root.tz"\nmotion = "-0.01*(1 - cos(pi*min(t, 1)))"', 'axes = ["tz"]', "mu = 0",
               'modes = 2, kept = ["tip"], damping = 0.5', "step = 1e-3\nend_time = 3\noutput_step = 0.1")
    summary = stickslip.json("run", stickslip.write("rest.toml", text), "--out", "out")
    assert summary["status"] == "success"
    with open(stickslip.folder / "out" / "trajectory.csv") as file:
        last = list(csv.DictReader(file))[-1]
    force = 3 * E * IY * 0.02 / LENGTH**3
    assert float(last["root.tz"]) == pytest.approx(-0.02, abs=1e-12)
    assert float(last["r_touch_n"]) == pytest.approx(force, rel=1e-9)


@pytest.mark.parametrize("restitution", [1.0, 0.5, 0.0])
def test_impacts_of_a_tip_keep_the_balance_of_energy(stickslip, restitution):
    """An arm falls on its tip: with e = 1 no energy is lost, with less what is lost is what the balance says."""
    text = "[gravity]\nvector = [0, 0, -9.81]\n" + arm(
        "", 'axes = ["ry"]\nposition_0 = -0.3', f"mu = 0\nrestitution = {restitution}", "modes = 3", f"step = {2.5e-5 if restitution == 1 else 1e-4}\nend_time = 0.5\noutput_step = 0.01")  # blows faster than the forces of a step
    summary = stickslip.json("run", stickslip.write("fall.toml", text), "--out", "out")
    audit = {name: item["value"] for name, item in summary["audit"].items()}
    weight = 2700 * 4e-4 * LENGTH * 9.81
    start = weight * LENGTH / 2 * math.sin(0.3)
    assert summary["status"] == "success" and summary["events"]["impact"] > 0
    assert abs(audit["energy_unexplained"]) < 5e-3 * start
    if restitution == 1:
        assert abs(audit["energy_impact_loss"]) < 5e-3 * start
    else:
        assert 0.05 * start < audit["energy_impact_loss"] < start
    assert audit["penetration_end"] < 1e-3 * RADIUS
