# SPDX-License-Identifier: Apache-2.0
"""Robot files from outside: check, run, results that can be repeated, mistakes with file and line."""

import csv
import math
import re
import shutil

import pytest


def rows(folder):
    with open(folder / "trajectory.csv") as file:
        return list(csv.DictReader(file))


def test_check_prints_the_tree_of_a_robot_file(stickslip, models):
    text = stickslip("check", models / "planar-arm.urdf").stdout
    assert "base on ground by base_weld [], without mass, welded" in text
    assert "upper on base by shoulder [ry], 1 kg at (0.25, 0, 0) m" in text
    assert "shoulder.ry: along (0, -1, 0) through (0, 0, 0) m" in text
    assert "stops: lower -1.6 rad, upper 1.6 rad, friction shoulder: limit 8 N m" in text
    assert "damping 0.02 N m s/rad" in text
    assert "elbow.ry: along (0, -1, 0) through (0.5, 0, 0) m" in text
    assert "limits of effort" in text and "-9.81" in text
    tree = stickslip.json("check", models / "planar-arm.toml")["tree"]
    assert any("elbow.ry" in line and "starts at -0.4 rad" in line for line in tree)


def test_friction_in_the_joints_holds_an_arm_without_sagging(stickslip, models):
    summary = stickslip.json("run", models / "planar-arm.toml", "--out", "arm")
    assert summary["status"] == "success"
    table = rows(stickslip.folder / "arm")
    held = [row for row in table if float(row["t"]) <= 2]
    assert len(held) > 100
    assert {(row["shoulder.ry"], row["elbow.ry"]) for row in held} == {("0.3", "-0.4")}
    assert abs(float(table[-1]["elbow.ry"]) + 0.4) > 0.1  # the load was too much
    page = (stickslip.folder / "arm" / "report.html").read_text()
    assert '"hinges":[{"name":"shoulder.ry"' in page


def test_a_robot_file_runs_by_itself_and_again_from_its_results(stickslip, models):
    folder = stickslip.folder / "here"
    folder.mkdir()
    shutil.copy(models / "seven-joint-arm.urdf", folder / "arm.urdf")
    first = stickslip.json("run", folder / "arm.urdf", "--set", "run.end_time=0.05", "--set", "hinge.joint2.position_0=0.4", "--out", "first")
    assert first["status"] == "success" and len(first["coordinates"]) == 7
    assert any("moreau" in note for note in first["notes"])
    (folder / "arm.urdf").unlink()  # the result holds the robot
    again = stickslip.json("run", "--from", "first", "--out", "again")
    assert again["final"]["position"] == first["final"]["position"]


def test_all_joints_of_an_arm_reverse_and_stick_and_schemes_agree(stickslip, models):
    fine = stickslip.json("run", models / "seven-joint-arm.toml", "--scheme", "event", "--set", "run.tolerance=1e-8", "--set", "run.end_time=1.3", "--out", "fine")
    assert fine["status"] == "success", fine["message"]
    errors = []
    for step in (4e-3, 1e-3):
        run = stickslip.json("run", models / "seven-joint-arm.toml", "--set", f"run.step={step}", "--set", "run.end_time=1.3", "--out", f"h{step}")
        errors.append(max(abs(a - b) for a, b in zip(run["final"]["position"], fine["final"]["position"])))
    assert errors[1] < errors[0] / 8 and errors[1] < 1e-4  # order 2: 16 times smaller
    with open(stickslip.folder / "fine" / "events.csv") as file:
        events = [(row["law"], row["kind"]) for row in csv.DictReader(file)]
    for joint in range(1, 8):
        assert any(law == f"joint{joint}" for law, kind in events), joint


@pytest.mark.parametrize(
    "wrong, line, part",
    [
        ('<axis xyz="0 0 0"/>', 3, "length 0"),
        ('<axis xyz="0 0 1"/><limit lower="1" upper="-1"/>', 3, "must be below"),
        ("</wrong>", 2, "not valid XML"),  # the element that is not closed
    ],
)
def test_mistakes_name_the_robot_file_and_the_line(stickslip, wrong, line, part):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    path = stickslip.folder / "bad.urdf"
    path.write_text(f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>\n<joint name="j" type="revolute"><parent link="a"/><child link="b"/>\n{wrong}</joint></robot>\n')
    for command in ("check", "run"):
        result = stickslip(command, path)
        assert result.returncode == 2
        assert f"bad.urdf:{line}: " in result.stderr and part in result.stderr, result.stderr
    (stickslip.folder / "m.toml").write_text('urdf = "bad.urdf"\n')
    assert "bad.urdf:" in stickslip("check", stickslip.folder / "m.toml").stderr


def test_fit_finds_the_friction_of_all_joints_from_a_torque_record(stickslip, models):
    """The torques of the motors, computed from a run, and friction that starts 30 % too high."""
    shutil.copy(models / "seven-joint-arm.urdf", stickslip.folder)
    model = (models / "seven-joint-arm.toml").read_text().split("[run]")[0]
    model += '[run]\nscheme = "moreau"\nstep = 4e-3\nend_time = 1.6\n'
    path = stickslip.write("arm.toml", model)
    stickslip.json("run", path, "--set", "run.output_step=0.02", "--out", "measured")
    torques, friction = {}, {}
    motors = motors_of(model)
    for joint, (axis, target, stiffness, damping) in motors.items():
        torques[f"tau_{joint}"] = f"{stiffness}*({target} - {joint}.{axis}) - {damping}*v_{joint}.{axis}"
    for law in stickslip.json("check", path)["laws"]:
        if law["kind"] == "friction":
            friction[law["name"]] = float(re.search(r"limit ([0-9.]+)", law["description"])[1])
    assert len(friction) == len(torques) == 7
    names = {"pi": math.pi, "cos": math.cos, "amplitude": 0.4, "frequency": 0.5, "start": 0.5}
    lines = ["t," + ",".join(torques)]
    for row in rows(stickslip.folder / "measured"):
        values = [eval(motors[name[4:]][1].replace("^", "**"), {**names, "t": float(row["t"])}) for name in torques]
        for k, (joint, (axis, _, stiffness, damping)) in enumerate(motors.items()):
            values[k] = stiffness * (values[k] - float(row[f"{joint}.{axis}"])) - damping * float(row[f"v_{joint}.{axis}"])
        lines.append(",".join(f"{value:.12g}" for value in (float(row["t"]), *values)))
    stickslip.write("torques.csv", "\n".join(lines) + "\n")
    unknowns = ", ".join(f'{{ key = "friction.{name}.limit", start = {1.3 * limit}, min = 0 }}' for name, limit in friction.items())
    columns = "\n".join(f'{name} = "{text}"' for name, text in torques.items())
    path = stickslip.write("fit.toml", f"{model}\n[fit]\nhorizons = 1\nunknowns = [{unknowns}]\n[fit.columns]\n{columns}\n")
    found = stickslip.json("fit", path, stickslip.folder / "torques.csv")
    assert found["status"] == "success"
    for name, limit in friction.items():
        assert found["unknowns"][f"friction.{name}.limit"] == pytest.approx(limit, rel=1e-6)


def motors_of(text):
    """joint: (axis, target, stiffness, damping) of the [[motor]] tables."""
    pattern = r'on = "(\w+)\.(\w+)"\nposition = "([^"]*)"\nstiffness = (\S+)\ndamping = (\S+)'
    return {m[1]: (m[2], m[3], float(m[4]), float(m[5])) for m in re.finditer(pattern, text)}
