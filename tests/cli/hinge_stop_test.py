# SPDX-License-Identifier: Apache-2.0
"""Stops of hinges in chains: blows are located one by one, links stay within their stops, friction beside a stop."""

import csv
import math

import pytest

LIMIT = 0.5


def chain(links, restitution, step, end=1.0, friction=0.0, unit=1.0):
    """Boxes of 0.1 m and 0.1 kg in a row, axes y, stops at ±0.5; `unit`: lengths in units of 1/unit m."""
    mass, length, thin = 0.1, 0.1 * unit, 0.02 * unit
    across = mass * (length**2 + thin**2) / 12
    text = f"[gravity]\nvector = [0, 0, {-9.81 * unit}]\n"
    for i in range(links):
        text += f"""
[[body]]
name = "link{i}"
mass = {mass}
center = [{length / 2}, 0, 0]
inertia = [{mass * thin**2 / 6}, {across}, {across}]
[[hinge]]
name = "h{i}"
parent = "{f"link{i - 1}" if i else "ground"}"
child = "link{i}"
position = [{length if i else 0.0}, 0, 0]
axes = ["ry"]
lower = {-LIMIT}
upper = {LIMIT}
restitution = {restitution}
position_0 = {0.3 * math.sin(1 + i)}
"""
        if friction:
            text += f'[[friction]]\non = "h{i}.ry"\nlimit = {friction * unit**2}\n'
    return text + f'[run]\nscheme = "moreau"\nstep = {step}\nend_time = {end}\n'


def deepest(folder):
    with open(folder / "trajectory.csv") as file:
        table = list(csv.DictReader(file))
    angles = [name for name in table[0] if name.startswith("h")]
    return max(abs(float(row[name])) - LIMIT for row in table for name in angles)


def run(stickslip, text, *options, code=0):
    summary = stickslip.json("run", stickslip.write("chain.toml", text), "--out", "out", *options, code=code)
    return summary, deepest(stickslip.folder / "out")


@pytest.mark.parametrize("links, restitution, step", [(n, e, h) for n in (2, 6, 12) for e in (0, 0.5, 0.9) for h in (0.004, 0.002)])
def test_links_stay_within_their_stops(stickslip, links, restitution, step):
    summary, depth = run(stickslip, chain(links, restitution, step))
    # Speeds are 10 to 60 rad/s: a step is 0.02 to 0.2 rad. What is left are landings without rebound, slower than what the
    # forces of a step do: ½ a h² with accelerations of up to 800 rad/s².
    assert depth < 400 * step**2
    assert summary["audit"]["penetration_steps"]["value"] < 0.5
    assert abs(summary["audit"]["energy"]["value"]) < 0.02


def test_a_chain_with_blows_converges_to_the_exact_motion_with_order_two(stickslip):
    model = stickslip.write("chain.toml", chain(2, 0.9, 0.001, end=0.3))
    exact = stickslip.json("run", model, "--scheme", "event", "--set", "run.tolerance=1e-10", "--out", "exact")
    errors = []
    for step in (0.004, 0.002, 0.001, 0.0005):
        stepped = stickslip.json("run", model, "--set", f"run.step={step}", "--out", "stepped")
        assert stepped["events"]["impact"] == exact["events"]["impact"] == 11
        errors.append(max(abs(a - b) for a, b in zip(stepped["final"]["position"], exact["final"]["position"])))
    assert errors[-1] < 3e-5
    order = math.log2(errors[0] / errors[-1]) / 3
    assert 1.8 < order < 2.2


def test_stops_in_other_units(stickslip):
    ends = [run(stickslip, chain(2, 0.9, 0.002, end=0.3, unit=unit))[0]["final"]["position"] for unit in (1.0, 1e6, 1e-6)]
    for other in ends[1:]:
        assert other == pytest.approx(ends[0], abs=1e-9)


@pytest.mark.parametrize("links, restitution", [(6, 0.0), (6, 0.5), (12, 0.0), (30, 0.0)])
def test_friction_and_stops_on_the_same_axes(stickslip, links, restitution):
    """Rows of friction and stop are the same direction: D is singular, the law along the axis is not."""
    summary, depth = run(stickslip, chain(links, restitution, 0.002, end=0.4, friction=0.02))
    assert depth < 400 * 0.002**2
    assert summary["audit"]["inclusion"]["value"] < 1e-9


def test_a_joint_held_by_friction_at_its_stop_does_not_move(stickslip):
    """Gravity presses the link on to its stop; friction alone would not hold it."""
    text = chain(1, 0.5, 0.002, end=2.0, friction=0.01)
    summary, _ = run(stickslip, text)
    assert summary["final"]["velocity"] == [0.0]
    assert summary["final"]["position"][0] == pytest.approx(LIMIT, abs=1e-12)
    # m g l/2 cos 0.5 less what the stop carries is within the limit; both together are the weight.
    friction, stop = summary["final"]["reaction"][0], summary["final"]["reaction"][2]
    assert friction - stop == pytest.approx(-0.1 * 9.81 * 0.05 * math.cos(LIMIT), rel=1e-9)


@pytest.mark.parametrize("restitution, located", [(0.6, True), (0.0, False)])
def test_what_is_said_of_the_order_is_true_of_stops(stickslip, restitution, located):
    stickslip.write("chain.toml", chain(2, restitution, 0.002))
    assert ("not located" in stickslip("check", "chain.toml").stdout) != located


def test_axes_that_point_the_same_way_at_the_start_are_named_as_a_cause(stickslip):
    stickslip.write("gimbal.toml", """
[[body]]
name = "d"
mass = 2
inertia = [0.1, 0.1, 0.2]
[[hinge]]
name = "h"
parent = "ground"
child = "d"
axes = ["rz", "rx", "rz"]
velocity_0 = [0, 1.0, 0]
[run]
scheme = "moreau"
step = 0.001
end_time = 1
""")
    refused = stickslip("check", "gimbal.toml")
    if refused.returncode == 0:
        refused = stickslip("run", "gimbal.toml")
    assert refused.returncode == 2 and "ball" in refused.stderr
