# SPDX-License-Identifier: Apache-2.0
"""Bricard's mechanism, whose loop has one row more than it needs, under moreau: order 2 up to large steps;
a parallelogram that passes its flat position, where its rows lose rank, wherever the steps fall."""
import pytest

PARALLELOGRAM = """
[gravity]
vector = [0, -9.81, 0]
[[body]]
name = "c1"
mass = 1
center = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
[[body]]
name = "cp"
mass = 2
center = [0.5, 0, 0]
inertia = [0.01, 0.2, 0.2]
[[body]]
name = "c2"
mass = 1
center = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
[[hinge]]
name = "a"
parent = "ground"
child = "c1"
axes = ["rz"]
position_0 = ANGLE
[[hinge]]
name = "b"
parent = "c1"
child = "cp"
axes = ["rz"]
position = [0.5, 0, 0]
position_0 = -ANGLE
[[hinge]]
name = "d"
parent = "ground"
child = "c2"
axes = ["rz"]
position = [1, 0, 0]
position_0 = ANGLE
[[loop]]
name = "L"
body_a = "cp"
point_a = [1, 0, 0]
body_b = "c2"
point_b = [0.5, 0, 0]
axes = ["rz"]
[run]
scheme = "moreau"
step = 0.001
end_time = 0.3
"""


@pytest.mark.parametrize("angle, step", [(0.43583630660427297, 0.0008875739644970414), (0.3305730046291346, 0.000689655172413793)])
def test_a_parallelogram_passes_flat_wherever_a_step_ends_beside_it(stickslip, angle, step):
    stickslip.write("flat.toml", PARALLELOGRAM.replace("ANGLE", repr(angle)))
    exact = stickslip.json("run", "flat.toml", "--scheme", "event", "--set", "run.tolerance=1e-10", "--out", "exact")["final"]["position"]
    found = stickslip.json("run", "flat.toml", "--set", f"run.step={step!r}", "--out", "found")
    assert found["status"] == "success"
    assert found["final"]["position"] == pytest.approx(exact, abs=2e-5)


def test_bricards_mechanism_converges_under_moreau(stickslip, models):
    exact = 6.725995972912e-05  # event at 1e-12, first angle at 5 s
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        summary = stickslip.json("run", models / "bricard.toml", "--scheme", "moreau", "--set", f"run.step={step}", "--out", "out")
        assert summary["status"] == "success", summary["message"]
        position = summary["final"]["position"]
        assert max(abs(position[k] - position[0]) for k in (2, 4)) < 1e-12  # the symmetry that rows beside it would break
        errors.append(abs(position[0] - exact))
    assert errors[0] < 1e-6 and errors[0] > 3 * errors[1] > 9 * errors[2]
