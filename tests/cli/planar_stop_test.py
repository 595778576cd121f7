# SPDX-License-Identifier: Apache-2.0
"""Friction in a plane that comes to rest while the force is nearly as large as its limit: the direction of slip then turns
to that of the force ever faster, and steps that only tolerances bound do not arrive."""
import csv
import math

import pytest

PERIOD = 2 * math.pi / 1.3
MODEL = """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[40, 0], [0, 15]]
damping = [[0.2, 0], [0, 0.2]]
force = ["10*cos(1.3*t)", "6*sin(1.3*t + 0.9)"]
[[friction]]
on = ["x", "y"]
limit = 7
[run]
scheme = "event"
end_time = 1
"""


def held(events, begin, end):
    """Time in stick."""
    total, mode, since = 0.0, None, begin
    for row in events:
        t = float(row["t"])
        if t > begin:
            total += (t - since) * (mode == "stick")
            since = t
        mode = row["after"]
    return total + (end - since) * (mode == "stick")


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("periods", [4, 20])
def test_a_planar_motion_stops_again_and_again(stickslip, periods, tolerance):
    """An independent integration (explicit, with the stop found by |v| < 1e-10) has 0.472479 of the settled period in stick."""
    stickslip.write("plane.toml", MODEL)
    end = periods * PERIOD
    result = stickslip.json("run", "plane.toml", "--out", "o", "--set", f"run.end_time={end!r}", "--set", f"run.tolerance={tolerance}")
    assert result["status"] == "success"
    events = list(csv.DictReader(open(stickslip.folder / "o/events.csv")))
    if periods == 20:
        assert held(events, end - PERIOD, end) / PERIOD == pytest.approx(0.472479, abs=1e-6)
