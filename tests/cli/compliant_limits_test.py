# SPDX-License-Identifier: Apache-2.0
"""The scheme compliant where its laws have borders: balances on them, coefficients of 0, shapes of cones, stiffness that changes."""
import csv
import math

import h5py
import numpy as np
import pytest

GRAVITY = 9.81


def final(stickslip, text, *more):
    """Last row of a run that must succeed."""
    stickslip.write("m.toml", text)
    result = stickslip.json("run", "m.toml", "--out", "out", *more)
    assert result["status"] == "success", result["message"]
    with open(stickslip.folder / "out" / "trajectory.csv") as file:
        rows = list(csv.DictReader(file))
    return {name: float(value) for name, value in rows[-1].items() if name}


BELT = """
[matrices]
coordinates = ["x", "z"]
mass = { diagonal = 1 }
stiffness = [[50, 0], [0, 200]]
force = [0, -4]
[[contact]]
name = "c"
gap = "z"
slip = "x"
surface_velocity = 0.1
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, 800]], damping = 20 }
[initial]
position = [0, "-4/1200"]
[run]
scheme = "compliant"
end_time = 0.1
[run.compliant]
quasistatic = true
"""


@pytest.mark.parametrize("damping", [9.9, 10.1, 100, 1e4])
def test_a_slider_rides_on_a_belt_whose_damper_alone_is_beyond_the_limit(stickslip, damping):
    """At rest the trial force C v lies outside the cone; the balance is stick, at the velocity of the belt at first."""
    row = final(stickslip, BELT, "--set", f"contact.c.compliance.damping={damping}")
    # k x = K δ + C δ', x + s = 0.1 t with s = -δ: x' = 0.1 - δ', (K + k) δ + C δ' = 50 * 0.1 t
    rate = 850 / damping
    strain = 5 / 850 * (0.1 - (1 - math.exp(-rate * 0.1)) / rate)
    assert row["x"] == pytest.approx(0.01 - strain, abs=1e-9)


DRIVE = """
[parameters]
tp = 1.2
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
stiffness = [[50, 0], [0, 0]]
force = ["50*0.1*min(t, tp)", -9.81]
[[contact]]
name = "c"
gap = "z"
slip = "x"
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, 800]], damping = 20 }
[initial]
position = [0, -0.00981]
[run]
scheme = "compliant"
end_time = 2
output_step = 0.1
[run.compliant]
quasistatic = true
"""


@pytest.mark.parametrize("tp", [0.95, 1.1, 1.2, 1.23, 1.45, 1.7, 1.9])
@pytest.mark.parametrize("more", [(), ("--set", "run.output_step=2", "--set", "run.tolerance=1e-11")])
def test_a_drive_that_stops_in_slip_leaves_its_slider_at_the_limit(stickslip, tp, more):
    """The spring of the contact has come to the limit but for e^(-40 t): whether the slider sticks is a matter of round-off."""
    row = final(stickslip, DRIVE, "--set", f"parameters.tp={tp}", *more)
    assert row["x"] == pytest.approx(0.1 * tp - 0.3 * GRAVITY / 50, abs=1e-9)


def columns(stickslip, text, *more):
    """Last row of the derivatives of a run that must succeed."""
    final(stickslip, text, *more)
    with h5py.File(stickslip.folder / "out" / "result.h5") as file:
        return np.array(file["sensitivity"])[-1]


SLIDES = """
[parameters]
mu = 0
[matrices]
coordinates = ["x", "y", "z"]
mass = { diagonal = 1 }
force = [0, 0, -9.81]
[[contact]]
name = "c"
gap = "z"
slip = ["x", "y"]
mu = "mu"
compliance = { stiffness = [[1000, 100, 50], [100, 800, 30], [50, 30, 700]], damping = 20 }
[initial]
position = [0, 0, -0.00981]
velocity = [2, 1, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 0.1
output_step = 0.01
"""


@pytest.mark.parametrize("integrator", ["explicit", "stiff"])
@pytest.mark.parametrize("name", ["parameters.mu", "contact.c.mu"])
def test_a_disk_without_friction_has_the_derivative_of_a_little_friction(stickslip, integrator, name):
    """The cone is a point there; as it opens the force goes against the slip."""
    model = SLIDES.replace('mu = "mu"', "mu = 0") if name == "contact.c.mu" else SLIDES
    options = ("--set", f"run.compliant.integrator={integrator}")
    exact = columns(stickslip, model, *options, "--set", f"run.sensitivities=['{name}']")
    at = [final(stickslip, model, *options, "--set", f"{name}={mu}") for mu in (0, 1e-4, 2e-4)]
    for i, row in enumerate(["x", "y", "z", "v_x", "v_y", "v_z"]):
        difference = (4 * at[1][row] - 3 * at[0][row] - at[2][row]) / 2e-4
        assert exact[i] == pytest.approx(difference, rel=1e-5, abs=1e-7)


def test_derivatives_by_tiny_numbers_are_not_those_of_round_off(stickslip):
    """Differences over 1e-15: what does not depend on the number must drop out to the last bit."""
    tiny = columns(stickslip, SLIDES, "--set", "parameters.mu=1e-12", "--set", "run.sensitivities=['parameters.mu']")
    small = columns(stickslip, SLIDES, "--set", "parameters.mu=1e-7", "--set", "run.sensitivities=['parameters.mu']")
    assert tiny[:6] == pytest.approx(small[:6], rel=1e-5, abs=1e-7)


POLYGON = """
[matrices]
coordinates = ["x", "y", "z"]
mass = { diagonal = 1.7 }
force = ["2*sin(3*t)", "-1.3*cos(2*t)", "-1.7*9.81 + 3*sin(5*t)"]
[[contact]]
name = "c"
gap = "z"
slip = ["x", "y"]
mu = 0.4
cone = "polygon"
polygon = SHAPE
compliance = { stiffness = [[900, 120, -60], [120, 700, 50], [-60, 50, 650]], damping = [[18, 7], [7, 25]] }
[initial]
position = [0, 0, -0.015]
velocity = [1.1, -0.7, 0.2]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 2
output_step = 0.1
"""
REGULAR = POLYGON.replace("SHAPE", "{ facets = 5, angle = 0.3 }")
ROWS = POLYGON.replace("SHAPE", "{ rows = [[1, 0.2], [-0.5, 1], [-0.8, -0.9], [0.3, -2]] }")


@pytest.mark.parametrize("model, key, value, h", [(REGULAR, "contact.c.polygon.angle", 0.3, 1e-4), (ROWS, "contact.c.polygon.rows.2.0", -0.8, 1e-4)])
@pytest.mark.parametrize("integrator", ["explicit", "stiff"])
def test_derivatives_by_the_shape_of_a_polygon(stickslip, model, key, value, h, integrator):
    options = ("--set", f"run.compliant.integrator={integrator}")
    exact = columns(stickslip, model, *options, "--set", f"run.sensitivities=['{key}']")
    above, below = (final(stickslip, model, *options, "--set", f"{key}={value + side * h}") for side in (1, -1))
    for i, row in enumerate(["x", "y", "z"]):
        difference = (above[row] - below[row]) / (2 * h)
        assert exact[i] == pytest.approx(difference, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("derivatives", ["forward", "adjoint"])
def test_shooting_turns_a_polygon(stickslip, derivatives):
    stickslip.write("m.toml", REGULAR + """
[shoot]
unknowns = [{ name = "angle", key = "contact.c.polygon.angle", start = 0.3 }]
conditions = ["x - REACHED"]
""".replace("REACHED", repr(final(stickslip, REGULAR, "--set", "contact.c.polygon.angle=0.34")["x"])))
    result = stickslip.json("shoot", "m.toml", "--out", "out", "--set", f"shoot.derivatives={derivatives}")
    assert result["status"] == "success", result["message"]
    assert result["unknowns"]["angle"] == pytest.approx(0.34, abs=1e-6)


@pytest.mark.parametrize("stiffness", ["800*(1 + 0.4*x)", "800*(1 + 0.4*t)"])
def test_energy_of_a_stiffness_that_changes_beside_a_normal_law_of_its_own(stickslip, stiffness):
    """The audit, which `final` asks for, holds the run to 1e-6; the normal law stores nothing in K."""
    final(stickslip, f"""
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["5*sin(4*t)", -9.81]
[[contact]]
name = "c"
gap = "z"
slip = "x"
mu = 0.3
compliance = {{ stiffness = [[1000, 0], [0, "{stiffness}"]], damping = 20, exponent = 1.5 }}
[initial]
position = [0, -0.00981]
velocity = [1, 0]
[run]
scheme = "compliant"
end_time = 1.5
output_step = 0.1
""")


@pytest.mark.parametrize("bounds", ["min = 0", "max = 1"])
def test_shooting_starts_at_the_bound_of_its_unknown(stickslip, bounds):
    """Differences go to the side that the bound, or the model, allows."""
    stickslip.write("m.toml", SLIDES + f"""
[shoot]
unknowns = [{{ name = "mu", key = "parameters.mu", start = 0, {bounds} }}]
conditions = ["v_x - 1.8"]
""")
    result = stickslip.json("shoot", "m.toml", "--out", "out")
    assert result["status"] == "success", result["message"]
    assert final(stickslip, SLIDES, "--set", f"parameters.mu={result['unknowns']['mu']!r}")["v_x"] == pytest.approx(1.8, abs=1e-8)


def test_axes_of_a_contact_may_be_as_unlike_as_they_are(stickslip):
    """diag(1000, 1e-12, 1e12) is positive definite; [[1, 1], [1, 1]] is not, in whatever units."""
    unlike = SLIDES.replace("[[1000, 100, 50], [100, 800, 30], [50, 30, 700]]", "[[1000, 0, 0], [0, 1e-12, 0], [0, 0, 1e4]]")
    final(stickslip, unlike.replace("1e4]]", "1e12]]"), "--set", "run.end_time=1e-6", "--set", "run.output_step=1e-6")
    stickslip.write("m.toml", unlike.replace("[0, 1e-12, 0], [0, 0, 1e4]", "[0, 1e-6, 1], [0, 1, 1e6]"))
    refused = stickslip("run", "m.toml")
    assert refused.returncode != 0
    assert "positive definite" in refused.stderr or "singular" in refused.stderr
