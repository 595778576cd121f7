# SPDX-License-Identifier: Apache-2.0
"""Mechanisms among the models, against what is known of them."""

import csv
import math

import pytest


def rows(folder):
    with open(folder / "trajectory.csv") as file:
        return list(csv.DictReader(file))


def final(summary):
    return dict(zip(summary["coordinates"], summary["final"]["position"]))


# Published positions at 0.03 s (IVP test set), which agree with an independent integration to 1.4e-9.
ANDREWS = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}


def andrews_error(summary):
    position = final(summary)
    return max(abs(position[f"{name}.rz"] - value) for name, value in ANDREWS.items())


def test_andrews_mechanism_as_bodies_on_hinges(stickslip, models):
    path = models / "andrews-bodies.toml"
    assert andrews_error(stickslip.json("run", path, "--out", "event")) < 3e-9
    errors = []
    for step in (4e-5, 2e-5):
        errors.append(andrews_error(stickslip.json("run", path, "--scheme", "moreau", "--set", f"run.step={step}", "--out", f"h{step}")))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)  # order 2
    assert errors[1] < 2e-5


# Tip of the first crank at 10 s by the closed form beta'' = -c cos(beta).
FOUR_BAR = (0.328458111539, 0.944518538179)


@pytest.mark.parametrize("tolerance", [1e-10, 3e-11, 1e-11, 3e-12, 1e-12])
def test_cranks_pass_their_flat_positions_at_tight_tolerances(stickslip, models, tolerance):
    summary = stickslip.json("run", models / "four-bar.toml", "--set", f"run.tolerance={tolerance}", "--out", "out")
    assert summary["status"] == "success", summary["message"]
    angle = final(summary)["b0"]
    assert math.hypot(math.cos(angle) - FOUR_BAR[0], math.sin(angle) - FOUR_BAR[1]) < 1e-8
    assert abs(summary["audit"]["energy_unexplained"]["value"]) < 1e-8  # of 50 J


def linkage():
    """The same three cranks and two couplers as bodies in space, five rows per loop of which three depend on others."""
    text = "[gravity]\nvector = [0, -9.81, 0]\n"
    rod = 'mass = 1\ncenter = [0.5, 0, 0]\ninertia = [0.001, "1/12", "1/12"]\n'
    for k in range(3):
        text += f'[[body]]\nname = "crank{k}"\n{rod}'
        text += f'[[hinge]]\nname = "b{k}"\nparent = "ground"\nchild = "crank{k}"\nposition = [{k}, 0, 0]\naxes = ["rz"]\nposition_0 = "pi/2"\nvelocity_0 = -1\n'
    for k in (1, 2):
        text += f'[[body]]\nname = "coupler{k}"\n{rod}'
        text += f'[[hinge]]\nname = "c{k}"\nparent = "crank{k - 1}"\nchild = "coupler{k}"\nposition = [1, 0, 0]\naxes = ["rz"]\nposition_0 = "-pi/2"\nvelocity_0 = 1\n'
        text += f'[[loop]]\nname = "l{k}"\nbody_a = "coupler{k}"\npoint_a = [1, 0, 0]\nbody_b = "crank{k}"\npoint_b = [1, 0, 0]\naxes = ["rz"]\n'
    return text


@pytest.mark.parametrize("tolerance", [1e-10, 3e-12, 1e-12])
def test_the_same_cranks_on_hinges(stickslip, tolerance):
    path = stickslip.write("linkage.toml", linkage() + f'[run]\nscheme = "event"\ntolerance = {tolerance}\nend_time = 10\noutput_step = 0.1\n')
    summary = stickslip.json("run", path, "--out", "out")
    assert summary["status"] == "success", summary["message"]
    angle = final(summary)["b0.rz"]
    assert math.hypot(math.cos(angle) - FOUR_BAR[0], math.sin(angle) - FOUR_BAR[1]) < 1e-8


def test_the_sleeve_of_a_governor_rises_and_sticks(stickslip, models):
    path = models / "governor.toml"
    exact = stickslip.json("run", path, "--out", "event")
    assert exact["status"] == "success", exact["message"]
    table = rows(stickslip.folder / "event")
    assert max(float(row["sleeve.tz"]) for row in table) > float(table[0]["sleeve.tz"]) + 0.02
    with open(stickslip.folder / "event" / "events.csv") as file:
        assert sum(row["law"] == "sleeve" and row["kind"] == "stick" for row in csv.DictReader(file)) >= 2
    for row in table[:: len(table) // 20]:  # symmetric, and the sleeve where the links put it
        assert float(row["right.ry"]) == pytest.approx(-float(row["left.ry"]), abs=1e-9)
        assert float(row["sleeve.tz"]) == pytest.approx(-0.4 * math.cos(float(row["right.ry"])), abs=1e-9)
    stepped = stickslip.json("run", path, "--scheme", "moreau", "--set", "run.step=2e-3", "--set", "run.end_time=3", "--out", "moreau")
    assert stepped["status"] == "success", stepped["message"]
    at_3 = next(row for row in table if abs(float(row["t"]) - 3) < 1e-9)
    assert final(stepped)["sleeve.tz"] == pytest.approx(float(at_3["sleeve.tz"]), abs=2e-3)


def jellett(row, offset=0.006, radius=0.02, inertia=(2.994e-6, 2.994e-6, 3.2e-6)):
    """Angular momentum along the line from the contact to the mass centre; and how far the axis is up."""
    w, x, y, z = (float(row[f"top.q{axis}"]) for axis in "wxyz")
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    spin = [inertia[k] * float(row[f"top.w{axis}"]) for k, axis in enumerate("xyz")]
    momentum = [sum(turn[i][k] * spin[k] for k in range(3)) for i in range(3)]
    arm = [-offset * turn[0][2], -offset * turn[1][2], radius - offset * turn[2][2]]
    return sum(momentum[i] * arm[i] for i in range(3)), turn[2][2]


def test_a_tippe_top_turns_over_and_keeps_jelletts_quantity(stickslip, models):
    drift = []
    for step in (2e-4, 1e-4):
        summary = stickslip.json("run", models / "tippe-top.toml", "--set", f"run.step={step}", "--out", "out")
        assert summary["status"] == "success", summary["message"]
        values = [jellett(row) for row in rows(stickslip.folder / "out")]
        assert values[0][1] > 0.99 and values[-1][1] < -0.99  # the mass centre was below the middle, and is above it
        drift.append(max(abs(value / values[0][0] - 1) for value, _ in values))
    assert drift[1] < 0.7 * drift[0] and drift[1] < 3e-4


def test_a_grip_does_not_creep(stickslip, models):
    stickslip.json("run", models / "grip.toml", "--out", "out")
    held = [row for row in rows(stickslip.folder / "out") if float(row["t"]) >= 1]
    assert float(held[-1]["t"]) == 11
    heights = [float(row["capsule.z"]) for row in held]
    assert max(heights) - min(heights) < 1e-12


@pytest.mark.parametrize("scheme", ["event", "moreau"])
def test_a_prescribed_motion_into_a_stop_is_named(stickslip, scheme):
    path = stickslip.write(
        "stop.toml",
        f"""[[body]]
name = "arm"
mass = 1
inertia = [1, 1, 1]
[[hinge]]
name = "h"
parent = "ground"
child = "arm"
axes = ["rz"]
upper = 0.5
velocity_0 = 1
[[motor]]
name = "drive"
on = "h.rz"
motion = "t"
[run]
scheme = "{scheme}"
{"step = 1e-3" if scheme == "moreau" else "tolerance = 1e-8"}
end_time = 1
""",
    )
    result = stickslip("run", path, "--out", "out")
    assert result.returncode == 1
    assert "contact 'h.rz.upper' closes at t = 0." in result.stderr and "`position`, `stiffness` and `limit`" in result.stderr
    driven = path.read_text().replace('motion = "t"', 'position = "t"\nstiffness = 1e3\ndamping = 50\nlimit = 20')  # what it advises
    summary = stickslip.json("run", stickslip.write("driven.toml", driven), "--out", "driven")
    assert summary["status"] == "success" and final(summary)["h.rz"] == pytest.approx(0.5, abs=1e-9)


def test_a_periodic_motion_of_a_double_pendulum_with_dry_joints(stickslip):
    rod = "mass = {}\ncenter = [0, 0, {}]\ninertia = [{}, {}, 0.002]\n"
    text = "[gravity]\nvector = [0, 0, -9.81]\n"
    text += '[[body]]\nname = "upper"\n' + rod.format(1, -0.2, 0.02, 0.02) + '[[body]]\nname = "lower"\n' + rod.format(0.5, -0.15, 0.008, 0.008)
    text += '[[hinge]]\nname = "s"\nparent = "ground"\nchild = "upper"\naxes = ["ry"]\ndamping = 0.05\n'
    text += '[[hinge]]\nname = "e"\nparent = "upper"\nchild = "lower"\nposition = [0, 0, -0.4]\naxes = ["ry"]\ndamping = 0.02\n'
    text += '[[friction]]\nname = "s"\non = "s.ry"\nlimit = 0.15\n[[friction]]\nname = "e"\non = "e.ry"\nlimit = 0.05\n'
    text += '[[motor]]\non = "s.ry"\nforce = "0.5*cos(6*t)"\n[periodic]\nperiod = "pi/3"\nmethod = "event"\nstart = "run"\nstart_periods = 40\n'
    path = stickslip.write("orbit.toml", text + '[run]\nscheme = "event"\ntolerance = 1e-10\nend_time = 40\n')
    orbit = stickslip.json("periodic", path, "--out", "out")
    assert orbit["status"] == "success", orbit["message"]
    assert all(math.hypot(*multiplier) < 1 for multiplier in orbit["multipliers"])
    assert 0.04 < orbit["stick_fraction"]["e"] < 0.08 and orbit["stick_fraction"]["s"] == 0
    for low, high in zip(orbit["minimum"], orbit["maximum"]):
        assert low == pytest.approx(-high, abs=1e-8)  # symmetric under a shift by half a period


def guided(unit=1.0):
    """A body in a guide on two rows that turns back under load; both laws act on its one free velocity. Lengths times unit."""
    return f"""
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[2, 0, 0], [0, 2, 0], [0, 0, {0.5 * unit**2!r}]]
force = [0, "{10.0 * unit!r}*cos(3*t)", "{3.0 * unit**2!r}*cos(3*t)"]
[[constraint]]
name = "up"
position = "x + {0.2 * unit!r}*phi"
[[constraint]]
name = "lo"
position = "x - {0.2 * unit!r}*phi"
[[friction]]
name = "fu"
direction = [0, 1, {0.1 * unit!r}]
limit = "0.3*abs(r_up)"
[[friction]]
name = "fl"
direction = [0, 1, {0.1 * unit!r}]
limit = "0.3*abs(r_lo)"
[initial]
velocity = [0, {unit!r}, 0]
[run]
scheme = "moreau"
end_time = 4
"""


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_two_laws_on_one_free_velocity_turn_back_together(stickslip, unit):
    exact = 0.8551629235  # y(4), pieces of motion between the turns in closed form
    stickslip.write("m.toml", guided(unit))
    for steps, error in [(200, 1e-3), (500, 1e-4), (1600, 1e-5)]:
        result = stickslip.json("run", "m.toml", "--set", f"run.steps={steps}")
        assert result["final"]["position"][1] / unit == pytest.approx(exact, abs=error), steps
        assert result["events"]["reversal"] == 6 and result["events"]["stick"] == 0


def test_a_limit_without_a_value_at_no_reaction(stickslip):
    stickslip.write("m.toml", """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["10*cos(3*t)", "-10"]
[[constraint]]
name = "g"
position = "y"
[[friction]]
name = "f"
on = "x"
limit = "0.3*abs(r_g)*(10/abs(r_g))^0.33"
[initial]
velocity = [1, 0]
[run]
step = 0.01
end_time = 2
""")
    exact = stickslip.json("run", "m.toml", "--scheme", "event")["final"]["position"][0]
    assert stickslip.json("run", "m.toml", "--scheme", "moreau")["final"]["position"][0] == pytest.approx(exact, abs=1e-4)


def test_break_away_from_a_static_limit_that_follows_a_reaction_is_located(stickslip):
    stickslip.write("m.toml", """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["7*cos(t)", "-10 - 5*sin(1.7*t)"]
[[constraint]]
name = "g"
position = "y"
[[friction]]
name = "f"
on = "x"
limit = "0.4*abs(r_g)"
static_limit = "0.7*abs(r_g)"
[initial]
velocity = [1, 0]
[run]
scheme = "moreau"
end_time = 4
""")
    errors = []
    for steps in [371, 742, 1484, 2968]:
        result = stickslip.json("run", "m.toml", "--set", f"run.steps={steps}")
        errors.append(abs(result["final"]["position"][0] + 3.3486651471))  # slips from 2.2899128575 s on
    assert errors[0] < 1e-4 and errors[3] < 2e-6, errors
    assert errors[3] < errors[0] / 40, errors  # order 2; 64


@pytest.mark.parametrize("step", [0.01, 0.005, 0.0025])
def test_static_limits_that_follow_reactions_settle_at_every_step(stickslip, step):
    stickslip.write("m.toml", """
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[2, 0, 0], [0, 2, 0], [0, 0, 0.5]]
force = [0, "6*sin(2*t)", 3]
[[constraint]]
name = "up"
position = "x + 0.2*phi"
[[constraint]]
name = "lo"
position = "x - 0.2*phi"
[[friction]]
name = "f"
direction = [0, 1, 0.1]
limit = "0.3*abs(r_up)"
static_limit = "0.4*abs(r_up)"
[run]
scheme = "moreau"
step = 0.01
end_time = 6
""")
    exact = stickslip.json("run", "m.toml", "--scheme", "event")
    result = stickslip.json("run", "m.toml", "--set", f"run.step={step}")
    assert result["final"]["position"][1] == pytest.approx(exact["final"]["position"][1], abs=20 * step**2)
    for kind in ["slip", "reversal"]:
        assert result["events"][kind] == exact["events"][kind]


def test_a_followed_reaction_of_zero_is_no_failure_of_the_audit(stickslip):
    stickslip.write("m.toml", """
[equations]
coordinates = ["x1", "y1", "x2", "y2"]
mass = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]]
force = [0, -9.81, 0, -19.62]
[[constraint]]
name = "c1"
position = "x1^2 + y1^2 - 1"
[[constraint]]
name = "c2"
position = "(x2 - x1)^2 + (y2 - y1)^2 - 4"
[[constraint]]
name = "c3"
position = "(x2 - 2)^2 + y2^2 - 1"
[[friction]]
name = "f"
on = "x1"
limit = "0.2*abs(r_c2)"
[initial]
position = [0, 1, 2, 1]
velocity = [0.5, 0, 0.5, 0]
[run]
scheme = "moreau"
end_time = 3
""")
    for step in [0.01, 0.0025]:  # through the position where the cranks lie flat
        assert stickslip.json("run", "m.toml", "--set", f"run.step={step}")["status"] == "success"


def test_round_off_of_a_slip_that_a_stop_ends_is_no_event(stickslip):
    stickslip.write("m.toml", """
[equations]
coordinates = ["s"]
mass = [[2]]
potential = "2*9.81*0.5*sin(s/0.5)"
[[contact]]
name = "stop"
gap = "0.5*sin(s/0.5) + 0.4"
restitution = 0.5
[[friction]]
name = "ring"
on = "s"
limit = "0.1*abs(2*v_s^2/0.5 - 2*9.81*sin(s/0.5))"
[initial]
position = [0.15]
velocity = [0.5]
[run]
scheme = "moreau"
step = 0.004
end_time = 2
""")
    events = stickslip.json("run", "m.toml")["events"]
    assert events["stick"] == 1 and events["slip"] == 0


def test_short_parts_around_a_stop_of_joined_bodies_are_solved_to_round_off(stickslip):
    body = """
[[body]]
name = "{name}"
mass = 1
center = [0, -0.25, 0]
inertia = [0.02, 0.001, 0.02]
[[hinge]]
name = "h{name}"
parent = "{parent}"
child = "{name}"
position = [0, {place}, 0]
axes = ["rz"]
position_0 = {angle}
[[friction]]
name = "f{name}"
on = "h{name}.rz"
mu = 0.3
radius = 0.05
"""
    stickslip.write("m.toml", "[gravity]\nvector = [0, -9.81, 0]\n" + body.format(name="a", parent="ground", place=0, angle=1) +
                    body.format(name="b", parent="a", place=-0.5, angle=-0.3) +
                    '[run]\nscheme = "moreau"\nstep = 0.0006\nend_time = 1.2\n')
    assert stickslip.json("run", "m.toml")["events"]["stick"] > 0


def test_laws_that_share_their_load_break_away_together(stickslip):
    stickslip.write("m.toml", """
[equations]
coordinates = ["x", "y", "z"]
mass = [[1.823, 0, 0], [0, 1.374, 0], [0, 0, 1.454]]
force = ["4.966+3.86*sin(3.395*t+2.761)-2.593*x","-2.724+0.013*sin(3.309*t+5.868)-1.103*y","-1.603+1.682*sin(3.093*t+1.198)-1.541*z"]
[[constraint]]
name = "c0"
position = "(0.638)*x+(0.363)*y+(0.596)*z"
[[constraint]]
name = "c1"
position = "(-0.825)*x+(0.838)*y+(0.639)*z"
[[friction]]
name = "f0"
direction = [0.324, -0.554, 0.979]
limit = "0.078*abs(r_c1)"
static_limit = "1.3*0.078*abs(r_c1)"
[[friction]]
name = "f1"
direction = [0.943, 0.079, 0.764]
limit = "0.147*abs(r_c0)"
static_limit = "1.3*0.147*abs(r_c0)"
[[friction]]
name = "f2"
direction = [0.11, 0.014, -0.833]
limit = "0.107*abs(r_c1)"
static_limit = "1.3*0.107*abs(r_c1)"
[run]
step = 0.005
end_time = 4
""")
    exact = stickslip.json("run", "m.toml", "--scheme", "event")
    result = stickslip.json("run", "m.toml", "--scheme", "moreau")
    assert result["final"]["position"] == pytest.approx(exact["final"]["position"], abs=1e-4)
    assert result["events"] == exact["events"]


def test_motors_that_leave_their_limits_within_a_step_converge(stickslip, models):
    """Slopes at the start of such a step are those of another force: the iteration goes on with its own."""
    exact = stickslip.json("run", models / "flexible-arm.toml", "--set", "run.end_time=1", "--out", "exact")
    for step, tolerance in ((0.002, 1e-3), (0.001, 2.5e-4)):
        stepped = stickslip.json("run", models / "flexible-arm.toml", "--scheme", "moreau", "--set", f"run.step={step}", "--set", "run.end_time=1", "--out", "out")
        assert final(stepped)["shoulder.rz"] == pytest.approx(final(exact)["shoulder.rz"], abs=tolerance)
        assert final(stepped)["elbow.rz"] == pytest.approx(final(exact)["elbow.rz"], abs=tolerance)


def test_bearing_friction_in_a_chain_is_solved_at_the_default_tolerance(stickslip):
    """Velocities of light links are rounded by the motion of all: more than their own size tells."""
    text = "[gravity]\nvector = [0, 0, -9.81]\n"
    for i in range(8):
        text += f'[[body]]\nname = "link{i}"\nmass = 0.1\ncenter = [0.05, 0, 0]\ninertia = [6.67e-6, 8.67e-5, 8.67e-5]\n'
        text += f'[[hinge]]\nname = "h{i}"\nparent = "{f"link{i - 1}" if i else "ground"}"\nchild = "link{i}"\nposition = [{0.1 if i else 0.0}, 0, 0]\n'
        text += f'axes = ["ry"]\nposition_0 = {0.3 * math.sin(1 + i)}\n[[friction]]\non = "h{i}.ry"\nmu = 0.2\nradius = 0.005\n'
    text += '[run]\nscheme = "moreau"\nstep = 0.002\nend_time = 0.4\n'
    summary = stickslip.json("run", stickslip.write("chain.toml", text), "--out", "out")
    assert summary["audit"]["inclusion"]["value"] < 1e-10
