# SPDX-License-Identifier: Apache-2.0
"""Robots on legs: feet on the ground, joint friction and stops at once, from URDF and MJCF."""

import pytest

LEGS = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}


def inertial(mass, x, y, z, height=0.0):
    terms = f'ixx="{mass * (y * y + z * z) / 12}" iyy="{mass * (x * x + z * z) / 12}" izz="{mass * (x * x + y * y) / 12}"'
    return f'<inertial><origin xyz="0 0 {height}"/><mass value="{mass}"/><inertia {terms} ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name, parent, child, place, axis, lower, upper):
    return f"""<joint name="{name}" type="revolute"><origin xyz="{place}"/><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>
<limit lower="{lower}" upper="{upper}" effort="30" velocity="10"/><dynamics damping="0.05" friction="0.5"/></joint>"""


def quadruped():
    parts = [f'<link name="trunk">{inertial(8, 0.4, 0.2, 0.1)}<collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>']
    for leg, (x, y) in LEGS.items():
        parts += [
            f'<link name="{leg}_hip">{inertial(0.5, 0.08, 0.08, 0.08)}</link>',
            f'<link name="{leg}_thigh">{inertial(0.8, 0.03, 0.03, 0.2, -0.1)}</link>',
            f'<link name="{leg}_shank">{inertial(0.3, 0.02, 0.02, 0.2, -0.1)}<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>',
            joint(f"{leg}_roll", "trunk", f"{leg}_hip", f"{0.2 * x} {0.1 * y} 0", "1 0 0", -0.8, 0.8),
            joint(f"{leg}_pitch", f"{leg}_hip", f"{leg}_thigh", f"0 {0.05 * y} 0", "0 1 0", -1.5, 1.5),
            joint(f"{leg}_knee", f"{leg}_thigh", f"{leg}_shank", "0 0 -0.2", "0 1 0", -2.6, -0.1),
        ]
    return f'<robot name="quadruped">{"".join(parts)}</robot>'


def stance():
    text = """urdf = { file = "quadruped.urdf", base = "free", position = [0, 0, 0.4] }
[gravity]
vector = [0, 0, -9.81]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["*", "*"]
mu = 0.7
[run]
scheme = "moreau"
step = 1e-3
end_time = 0.12
"""
    for leg in LEGS:
        for name, start, target in (("roll", "0", "0"), ("pitch", "0.5", "0.5"), ("knee", "-1", "-1 + 0.3*sin(2*pi*t)")):
            axis = "rx" if name == "roll" else "ry"
            text += f'[[hinge]]\nname = "{leg}_{name}"\nposition_0 = {start}\n'
            text += f'[[motor]]\non = "{leg}_{name}.{axis}"\nposition = "{target}"\nstiffness = 80\ndamping = 2\nlimit = 30\n'
    return text


@pytest.mark.parametrize("step", [2e-3, 1e-3, 5e-4])
def test_a_quadruped_lands_on_its_feet(stickslip, step):
    """Its legs stop and reverse together, to rounding, and its feet land within the same steps."""
    stickslip.write("quadruped.urdf", quadruped())
    path = stickslip.write("stance.toml", stance())
    summary = stickslip.json("run", path, "--set", f"run.step={step}", "--out", "out")
    assert summary["status"] == "success", summary["message"]
    final = dict(zip(summary["coordinates"], summary["final"]["position"]))
    assert final["fl_knee.ry"] == pytest.approx(final["fr_knee.ry"], abs=1e-9)  # left as right
    assert final["rl_knee.ry"] == pytest.approx(final["rr_knee.ry"], abs=1e-9)


HOPPER = """<mujoco model="hopper">
<option timestep="0.002"/>
<default><joint damping="0.1"/><geom friction="0.9"/></default>
<worldbody>
  <geom type="plane" size="10 10 1"/>
  <body name="torso" pos="0 0 1.27">
    <joint name="rootx" type="slide" axis="1 0 0" damping="0"/><joint name="rootz" type="slide" axis="0 0 1" damping="0"/>
    <joint name="rooty" type="hinge" axis="0 1 0" damping="0"/>
    <geom type="capsule" fromto="0 0 0.2 0 0 -0.2" size="0.05"/>
    <body name="thigh" pos="0 0 -0.2">
      <joint name="hip" type="hinge" axis="0 -1 0" range="-150 0" frictionloss="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.45" size="0.05"/>
      <body name="leg" pos="0 0 -0.45">
        <joint name="knee" type="hinge" axis="0 -1 0" range="-150 0" frictionloss="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.04"/>
        <body name="foot" pos="0 0 -0.5">
          <joint name="ankle" type="hinge" axis="0 -1 0" range="-45 45" frictionloss="0.05"/>
          <geom type="capsule" fromto="-0.13 0 -0.05 0.26 0 -0.05" size="0.06"/>
</body></body></body></body></worldbody></mujoco>
"""


@pytest.mark.parametrize("step", [2e-3, 2.5e-4])
def test_a_hopper_that_starts_on_two_stops_falls_and_lands(stickslip, step):
    """In free fall nothing presses on the stops: what moves them is rounding."""
    path = stickslip.write("hopper.xml", HOPPER)
    summary = stickslip.json("run", path, "--set", f"run.step={step}", "--set", "run.end_time=0.3", "--out", "out")
    assert summary["status"] == "success", summary["message"]
