# SPDX-License-Identifier: Apache-2.0
"""The scheme compliant where its laws have borders: balances on them, coefficients of 0, shapes of cones, stiffness that changes."""
import csv
import math

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
