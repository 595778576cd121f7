# SPDX-License-Identifier: Apache-2.0
"""The program as a person or a script uses it: files, JSON, exit codes, overrides, restart."""
import csv
import json
import math
import re

import h5py
import numpy
import pytest

BLOCK = """
title = "Block"
[matrices]
mass = [[1]]
[[friction]]
name = "shoe"
on = "x1"
limit = 1
[initial]
velocity = [1]
[run]
step = 0.01
end_time = 2
"""


def test_run_writes_every_result_file_and_prints_a_summary(stickslip):
    stickslip.write("block.toml", BLOCK)
    result = stickslip("run", "block.toml")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # no progress bar in a pipe
    assert "Block" in result.stdout and "1 stick" in result.stdout
    folder = stickslip.folder / "block"
    assert sorted(p.name for p in folder.iterdir()) == ["events.csv", "report.html", "result.h5", "summary.json", "trajectory.csv"]
    summary = json.loads((folder / "summary.json").read_text())
    for key in ["status", "message", "model", "scheme", "steps", "end_time", "coordinates", "velocities", "laws", "final", "events", "audit", "wall_seconds"]:
        assert key in summary, key
    assert summary["status"] == "success" and summary["scheme"] == "moreau" and summary["steps"] == 200
    assert summary["laws"] == ["shoe"]
    assert summary["final"]["position"] == [pytest.approx(0.5, abs=1e-12)]
    assert summary["final"]["velocity"] == [0.0] and summary["final"]["reaction"] == [0.0]
    assert summary["events"]["stick"] == 1


def test_columns_of_the_csv_files_are_those_of_the_design(stickslip, models):
    stickslip("run", models / "two-masses.toml", "--out", "r")
    rows = list(csv.reader(open(stickslip.folder / "r/trajectory.csv")))
    assert rows[0][:7] == ["t", "x1", "x2", "v_x1", "v_x2", "r_shoe1", "r_shoe2"]
    events = list(csv.reader(open(stickslip.folder / "r/events.csv")))
    assert events[0] == ["t", "law", "kind", "before", "after", "impulse"]
    assert [row[1:5] for row in events[1:]] == [
        ["shoe1", "stick", "slip+", "stick"], ["shoe1", "slip", "stick", "slip-"], ["shoe2", "slip", "stick", "slip+"], ["shoe1", "stick", "slip-", "stick"]]
    assert [round(float(row[0]), 2) for row in events[1:]] == [1, 2, 2, 3]


def test_the_reaction_is_minus_the_multiplier_of_the_exact_solution(stickslip, models):
    summary = stickslip.json("run", models / "two-masses.toml", "--out", "r", "--set", "run.steps=3200")
    assert summary["final"]["reaction"] == [pytest.approx(0.5, abs=1e-3), pytest.approx(-1, abs=1e-12)]
    assert summary["final"]["position"] == [pytest.approx(-1 / 6, abs=1e-5), pytest.approx(4 / 3, abs=1e-5)]


def test_splitting_adds_the_velocity_after_the_friction_step(stickslip, models):
    stickslip("run", models / "two-masses.toml", "--scheme", "splitting", "--out", "r")
    with open(stickslip.folder / "r/trajectory.csv") as stream:
        rows = list(csv.DictReader(stream))
    stuck = [row for row in rows if 1.1 < float(row["t"]) < 1.9]
    assert all(float(row["vf_x1"]) == 0 for row in stuck)
    assert any(float(row["v_x1"]) != 0 for row in stuck)


def test_hdf5_holds_the_same_trajectory(stickslip, models):
    stickslip("run", models / "two-hinges.toml", "--out", "r")
    table = numpy.genfromtxt(stickslip.folder / "r/trajectory.csv", delimiter=",", names=True)
    with h5py.File(stickslip.folder / "r/result.h5") as file:
        assert numpy.array_equal(file["t"][:], table["t"])
        assert numpy.array_equal(file["position"][:, 0], table["y1"])
        assert numpy.array_equal(file["velocity"][:, 1], table["v_y2"])
        assert numpy.array_equal(file["reaction"][:, 0], table["r_hinge1"])


def test_json_is_one_object_and_nothing_else(stickslip):
    stickslip.write("block.toml", BLOCK)
    result = stickslip("run", "block.toml", "--json")
    assert json.loads(result.stdout)["status"] == "success"
    assert result.stderr == ""


def test_set_changes_any_key(stickslip):
    stickslip.write("block.toml", BLOCK)
    assert stickslip.json("run", "block.toml", "--set", "friction.shoe.limit=2")["final"]["position"] == [pytest.approx(0.25)]
    assert stickslip.json("run", "block.toml", "--set", "run.steps=50", "--set", "initial.velocity=[0.5]")["steps"] == 50
    assert stickslip.json("run", "block.toml", "--scheme", "splitting", "--set", "run.splitting.variant=symmetrised")["scheme"] == "splitting"


def test_output_can_be_thinned_and_times_chosen(stickslip):
    stickslip.write("block.toml", BLOCK)
    stickslip("run", "block.toml", "--set", "run.output_times=[0.5, 1.005, 2]")
    times = [row["t"] for row in csv.DictReader(open(stickslip.folder / "block/trajectory.csv"))]
    assert [float(t) for t in times] == [0.5, 1.005, 2.0]
    stickslip("run", "block.toml", "--set", "run.output_step=0.25")
    assert len(open(stickslip.folder / "block/trajectory.csv").readlines()) == 1 + 9


def test_restart_goes_on_where_a_run_ended(stickslip, models):
    whole = stickslip.json("run", models / "two-hinges.toml", "--out", "whole")
    stickslip.json("run", models / "two-hinges.toml", "--out", "first", "--set", "run.end_time=10")
    second = stickslip.json("run", models / "two-hinges.toml", "--out", "second", "--restart", "first")
    assert second["end_time"] == 30
    assert second["final"]["position"] == whole["final"]["position"]  # to the last bit; more in restart_test.py
    again = stickslip("run", models / "two-hinges.toml", "--restart", "second")
    assert again.returncode == 2 and "end_time" in again.stderr


@pytest.mark.parametrize("scheme", ["moreau", "splitting"])
def test_every_model_runs_and_passes_its_audit(stickslip, models, scheme):
    files = sorted(models.glob("*.toml"))
    assert len(files) >= 5
    for path in files:
        constrained = "[[constraint]]" in path.read_text()
        if constrained and scheme == "splitting":
            refused = stickslip("run", path, "--scheme", scheme, "--set", "run.step=0.001", "--out", path.stem)
            assert refused.returncode == 2 and 'use scheme = "moreau" or "event"' in refused.stderr, path
            continue
        if scheme == "splitting" and ("[[contact]]" in path.read_text() or "[matrices]" not in path.read_text()):
            step = ["--set", "run.step=1e-3"] if re.search(r'scheme *= "(compliant|event)"', path.read_text()) else []
            refused = stickslip("run", path, "--scheme", scheme, "--out", path.stem, *step)
            assert refused.returncode == 2 and 'use scheme = "moreau"' in refused.stderr, path
            continue
        stepless = not re.search(r"^steps? *=", path.read_text(), re.MULTILINE)
        own = {"andrews": 1e-4, "flexible-arm": 2e-4}  # of fast parts that the iteration of a step has to follow
        step = ["--set", f"run.step={own.get(path.stem, 1e-3)}"] if constrained or stepless else []
        if re.search(r'scheme *= "compliant"', path.read_text()):  # starts inside the ground by the weight over the stiffness
            step = ["--set", "run.step=1e-3", "--set", "run.moreau.start_penetration=0.02"]
        summary = stickslip.json("run", path, "--scheme", scheme, "--out", path.stem, *step)
        assert summary["status"] == "success", (path, summary["message"])
        assert all(item["ok"] for item in summary["audit"].values())


@pytest.mark.parametrize("name", ["block-on-plane-compliant", "robot-foot", "two-finger-grasp", "dropped-cube", "quasistatic-push"])
def test_models_with_compliance_run_under_their_own_scheme(stickslip, models, name):
    summary = stickslip.json("run", models / f"{name}.toml", "--out", name)
    assert summary["status"] == "success" and summary["scheme"] == "compliant"
    assert all(item["ok"] for item in summary["audit"].values())


def test_check_states_rank_and_freedom_of_constraints(stickslip, models):
    result = stickslip("check", models / "andrews.toml")
    assert result.returncode == 0, result.stderr
    assert "loop1_x: holonomic constraint" in result.stdout
    assert "6 constraints of rank 6, 1 degree of freedom left" in result.stdout
    understood = stickslip.json("check", models / "four-bar.toml")
    assert understood["degrees_of_freedom"] == 1
    assert understood["constraints"] == {"rows": 4, "rank": 4, "dependent": []}


def test_check_says_what_was_understood_and_runs_nothing(stickslip, models):
    result = stickslip("check", models / "belt.toml")
    assert result.returncode == 0
    assert "static limit 1.5 N" in result.stdout and "1 degree of freedom " in result.stdout
    assert stickslip.files() == []


def test_list_and_version(stickslip):
    for what, word in [("schemes", "moreau"), ("solvers", "active_set"), ("laws", "friction"), ("papers", "splitting"), ("models", "two-masses")]:
        result = stickslip("list", what)
        assert result.returncode == 0 and word in result.stdout, what
        assert what in stickslip.json("list", what)
    assert stickslip("--version").stdout.startswith("stickslip ")


def test_compare_finds_the_orders_of_the_schemes(stickslip, models):
    result = stickslip.json("compare", models / "two-hinges.toml", "--schemes", "splitting,moreau", "--steps", "0.05,0.025,0.0125,0.00625", "--set", "run.end_time=9")
    orders = {row["scheme"]: row for row in result["orders"]}
    assert orders["moreau"]["position"] == pytest.approx(2, abs=0.15)
    assert orders["splitting"]["position"] == pytest.approx(1, abs=0.3)
    assert len(result["runs"]) == 8
    assert (stickslip.folder / "two-hinges-compare/report.html").exists()


def test_compare_takes_every_scheme_that_takes_the_model_and_the_event_solution_as_reference(stickslip, models):
    result = stickslip.json("compare", models / "two-hinges.toml", "--steps", "0.05,0.025", "--set", "run.end_time=9")
    assert result["reference"] == {"scheme": "event", "step": None, "tolerance": None, "note": ""}
    assert [row["scheme"] for row in result["orders"]] == ["splitting", "moreau", "event"]
    assert [row["over"] for row in result["orders"]] == ["step", "step", "tolerance"]
    event = [run for run in result["runs"] if run["scheme"] == "event"]
    assert [run["tolerance"] for run in event] == [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]
    assert all(run["step"] is None and run["wall_seconds"] > 0 for run in event)
    assert event[2]["position_error"] < 1e-6 < event[0]["position_error"]
    assert all(run["tolerance"] is None for run in result["runs"] if run["scheme"] != "event")
    page = (stickslip.folder / "two-hinges-compare/report.html").read_text()
    assert "Work and precision" in page


@pytest.mark.parametrize("paper, figures", [("splitting", "errors.csv"), ("stick-slip", "events.csv")])
def test_reproduce_gives_a_verdict_per_claim(stickslip, paper, figures):
    result = stickslip.json("reproduce", paper)
    assert len(result["claims"]) >= 10
    for claim in result["claims"]:
        assert set(claim) == {"claim", "paper", "ours", "verdict"}
        assert claim["verdict"] in ("confirmed", "corrected"), claim
    folder = stickslip.folder / "reproduction" / paper
    assert (folder / "report.html").exists() and (folder / figures).exists()


@pytest.mark.parametrize("arguments, words", [
    (["rum", "x.toml"], "did you mean 'run'"),
    (["run"], "MODEL"),
    (["run", "absent.toml"], "absent.toml"),
    (["run", "block.toml", "--scheme", "morau"], "moreau"),
    (["run", "block.toml", "--set", "run.stpe=1"], "did you mean 'step'"),
    (["run", "block.toml", "--set", "nonsense"], "nonsense"),
    (["run", "block.toml", "--frobnicate"], "frobnicate"),
    (["run", "block.toml", "--restart", "nowhere"], "nowhere"),
    (["compare", "block.toml", "--schemes", "splitting,event2"], "event2"),
    (["compare", "block.toml", "--steps", "a"], "not a number"),
    (["list", "scheme"], "schemes"),
    (["reproduce", "spliting"], "splitting"),
    (["run", ".", ], "."),
])
def test_a_wrong_call_ends_with_2_and_names_what_is_wrong(stickslip, arguments, words):
    stickslip.write("block.toml", BLOCK)
    result = stickslip(*arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert words in result.stderr
    assert stickslip.files() == ["block.toml"]


@pytest.mark.parametrize("change, line, words", [
    ("mass = [[1]]|mass = [[-1]]", 4, "positive definite"),
    ("mass = [[1]]|mass = [[1, 2]]", 4, ""),
    ("limit = 1|limit = -1", 8, ">= 0"),
    ("limit = 1|limit = \"1 +\"", 8, "^"),
    ("step = 0.01|stpe = 0.01", 12, "did you mean 'step'"),
    ("end_time = 2|end_time = -2", 13, "end_time"),
    ("on = \"x1\"|on = \"x2\"", 7, "x2"),
    ("velocity = [1]|velocity = [1, 2]", 10, "velocity"),
])
def test_a_wrong_model_ends_with_2_one_message_with_file_and_line_and_no_folder(stickslip, change, line, words):
    old, new = change.split("|")
    assert old in BLOCK
    stickslip.write("block.toml", BLOCK.replace(old, new))
    result = stickslip("run", "block.toml")
    assert result.returncode == 2
    assert f"block.toml:{line}:" in result.stderr, result.stderr
    assert words in result.stderr
    assert stickslip.files() == ["block.toml"]


def test_a_limit_that_turns_negative_on_the_way_keeps_the_results_and_ends_with_1(stickslip):
    stickslip.write("block.toml", BLOCK.replace("limit = 1", 'limit = "1 - t"').replace("velocity = [1]", "velocity = [5]"))
    summary = stickslip.json("run", "block.toml", code=1)
    assert "shoe" in summary["message"] and 0.95 < summary["end_time"] < 1.05
    assert len(open(stickslip.folder / "block/trajectory.csv").readlines()) > 95


def test_unwritable_output_folder_is_reported(stickslip):
    stickslip.write("block.toml", BLOCK)
    stickslip.write("taken", "a file")
    result = stickslip("run", "block.toml", "--out", "taken")
    assert result.returncode == 2 and "taken" in result.stderr


def test_a_compliant_box_turns_with_its_table_and_does_not_creep(stickslip):
    """Deformations are carried along with the bodies: held against the world's axes they would drag the box."""
    stickslip.write("table.toml", """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "table"
mass = 1000
inertia = [500, 500, 1000]
[[shape]]
body = "table"
kind = "box"
size = [4, 4, 0.2]
[[hinge]]
name = "axle"
parent = "ground"
child = "table"
axes = ["rz"]
velocity_0 = [1]
[[body]]
name = "box"
mass = 1
position_0 = [1, 0, 0.2]
velocity_0 = [0, 1, 0]
spin_0 = [0, 0, 1]
[[shape]]
body = "box"
kind = "box"
size = [0.4, 0.4, 0.2]
[[contact]]
between = ["box", "table"]
mu = 0.5
[run]
scheme = "compliant"
end_time = 0.04
output_step = 0.02
""")
    stickslip.json("run", "table.toml")
    rows = list(csv.DictReader(open(stickslip.folder / "table/trajectory.csv")))[-2:]
    radius = [math.hypot(float(row["box.x"]), float(row["box.y"])) for row in rows]
    behind = [math.atan2(float(row["box.y"]), float(row["box.x"])) - float(row["axle.rz"]) for row in rows]
    assert abs(radius[0] - 1) < 1e-6 and abs(radius[1] - radius[0]) < 1e-12
    assert abs(behind[1] - behind[0]) < 1e-12


@pytest.mark.parametrize("axes", ['["ball"]', '["tx", "ball"]', '["ball", "tz"]'])
def test_a_ball_hinge_is_drawn_and_turns_as_it_should(stickslip, axes):
    """A free symmetric top: its axis goes round with I_z w_z / I_x in the body."""
    start = {'["ball"]': "[1, 0, 6]", '["tx", "ball"]': "[0, 1, 0, 6]", '["ball", "tz"]': "[1, 0, 6, 0]"}[axes]
    stickslip.write("top.toml", f"""
[[body]]
name = "a"
mass = 1
inertia = [0.2, 0.2, 0.1]
[[hinge]]
name = "h"
parent = "ground"
child = "a"
axes = {axes}
velocity_0 = {start}
[run]
scheme = "event"
end_time = 1
""")
    summary = stickslip.json("run", "top.toml")
    assert (stickslip.folder / "top/report.html").stat().st_size > 0
    w = dict(zip(summary["velocities"], summary["final"]["velocity"]))
    assert [w["h.wx"], w["h.wy"]] == pytest.approx([math.cos(3), -math.sin(3)], abs=1e-8)


@pytest.mark.parametrize("line, words", [("velocity_0 = [1, 0, 0]", "position_0 and velocity_0 of the [[hinge]]"),
                                         ("spin_0 = [1, 0, 0]", "position_0 and velocity_0 of the [[hinge]]")])
def test_a_hinged_body_has_no_start_of_its_own(stickslip, line, words):
    stickslip.write("arm.toml", f"""
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 1]
{line}
[[hinge]]
name = "h"
parent = "ground"
child = "a"
axes = ["rz"]
""")
    done = stickslip("check", "arm.toml")
    assert done.returncode == 2 and words in done.stderr and "arm.toml:6:" in done.stderr


def test_a_prescribed_motion_takes_no_limit(stickslip):
    stickslip.write("arm.toml", """
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 1]
[[hinge]]
name = "h"
parent = "ground"
child = "a"
axes = ["rz"]
[[motor]]
on = "h.rz"
motion = "t"
limit = 1
""")
    done = stickslip("check", "arm.toml")
    assert done.returncode == 2 and "prescribed motion" in done.stderr and "arm.toml:14:" in done.stderr


RIGHT_LIMITS = {
    "rate, left value": ('row = [1, 0]\nrate = "if(t <= 1, 0, 1)"', [2, 6]),
    "rate, right value": ('row = [1, 0]\nrate = "if(t < 1, 0, 1)"', [2, 6]),
    "rate, value between": ('row = [1, 0]\nrate = "0.5+0.5*sign(t-1)"', [2, 6]),
    "kink of a position, left": ('position = "x-if(t <= 1, 0, t-1)"', [2, 6]),
    "kink of a position, right": ('position = "x-if(t < 1, 0, t-1)"', [2, 6]),
}


@pytest.mark.parametrize("row, end", RIGHT_LIMITS.values(), ids=RIGHT_LIMITS.keys())
def test_a_constraint_whose_velocity_jumps_moves_by_its_right_limit(stickslip, row, end):
    """2 kg from 0 to 1 m/s: the impulse 2 N s at the mean velocity 0.5 m/s does 1 J of work."""
    stickslip.write("jump.toml", f"""
[matrices]
coordinates = ["x", "y"]
mass = [[2, 0], [0, 1]]
[[constraint]]
name = "d"
{row}
[initial]
velocity = [0, 2]
[run]
scheme = "event"
step = 0.01
end_time = 3
""")
    summary = stickslip.json("run", "jump.toml")
    assert summary["final"]["position"] == pytest.approx(end, abs=1e-11)
    assert summary["final"]["velocity"] == pytest.approx([1, 2], abs=1e-12)
    assert summary["audit"]["energy_work_in"]["value"] == pytest.approx(1, abs=1e-9)


def test_a_row_that_jumps_turns_the_velocity(stickslip):
    """v goes to the nearest one along the new row: (0, 2) to (0.8, 1.6)."""
    stickslip.write("row.toml", """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[constraint]]
row = [1, "if(t <= 1, 0, -0.5)"]
[initial]
velocity = [0, 2]
[run]
scheme = "event"
step = 0.01
end_time = 2
""")
    summary = stickslip.json("run", "row.toml")
    assert summary["final"]["position"] == pytest.approx([0.8, 3.6], abs=1e-11)
    assert summary["audit"]["energy_stored"]["value"] == pytest.approx(-0.4, abs=1e-9)


@pytest.mark.parametrize("side", ["<", "<="])
def test_a_surface_that_sets_off_at_once_strikes_what_lies_on_it(stickslip, side):
    """1 kg from 0 to 1 m/s: impulse 1 N s, half of its work at the surface is lost in the blow; then 10 N over 1 m."""
    stickslip.write("lift.toml", f"""
[matrices]
coordinates = ["y"]
mass = [[1]]
force = [-10]
[[contact]]
gap = "y-if(t {side} 1, 0, t-1)"
[run]
scheme = "event"
step = 0.01
end_time = 2
""")
    summary = stickslip.json("run", "lift.toml")
    assert summary["final"]["position"] == pytest.approx([1], abs=1e-11)
    assert summary["events"]["impact"] == 1
    assert summary["audit"]["energy_work_in"]["value"] == pytest.approx(1, abs=1e-9)
    assert summary["audit"]["energy_impact_loss"]["value"] == pytest.approx(0.5, abs=1e-9)


def test_a_limit_that_names_a_contact_vanishes_as_that_lifts(stickslip):
    """v_x' = -0.2 r_N, r_N = 10 - 15 sin 2t until that is 0; nothing after it."""
    stickslip.write("lift.toml", """
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, "-10+15*sin(2*t)"]
[[contact]]
name = "floor"
gap = "y"
[[friction]]
name = "f"
on = "x"
limit = "0.2*r_floor_n"
[initial]
velocity = [5, 0]
[run]
scheme = "event"
step = 0.01
end_time = 0.6
""")
    summary = stickslip.json("run", "lift.toml")
    leaves = 0.5 * math.asin(2 / 3)
    impulse = 10 * leaves + 7.5 * (math.cos(2 * leaves) - 1)
    assert summary["final"]["velocity"][0] == pytest.approx(5 - 0.2 * impulse, abs=1e-8)
    assert summary["events"]["open"] == 1


def test_a_limit_may_name_both_sides_of_a_guide(stickslip):
    """The load 10 cos 3t - 2 changes sides; friction is 0.2 of its size, and v_x stays positive."""
    stickslip.write("guide.toml", """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["10*cos(3*t)", "-10*cos(3*t)+2"]
[[contact]]
name = "lo"
gap = "y"
[[contact]]
name = "hi"
gap = "-y"
[[friction]]
name = "f1"
on = "x"
limit = "0.2*(r_lo_n+r_hi_n)"
[initial]
velocity = [1, 0]
[run]
scheme = "event"
step = 0.01
end_time = 0.6
""")
    summary = stickslip.json("run", "guide.toml")
    load = lambda t: 10 / 3 * math.sin(3 * t) - 2 * t
    change = math.acos(0.2) / 3
    impulse = 2 * load(change) - load(0.6)
    assert summary["final"]["velocity"][0] == pytest.approx(1 + 10 / 3 * math.sin(1.8) - 0.2 * impulse, abs=1e-8)


@pytest.mark.parametrize("tolerance", ["1e-6", "1e-12"])
def test_friction_in_a_plane_gives_way_in_the_direction_of_its_load(stickslip, tolerance):
    """The load (1, t/2) reaches 2.5 at t = sqrt(21); its direction turns while the body is hardly moving."""
    stickslip.write("plane.toml", f"""
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["1", "0.5*t"]
[[friction]]
on = ["x", "y"]
limit = 2.5
[run]
scheme = "event"
tolerance = {tolerance}
step = 0.01
end_time = 6
""")
    summary = stickslip.json("run", "plane.toml")
    assert summary["audit"]["inclusion"]["value"] < 1e-9
    events = list(csv.DictReader(open(stickslip.folder / "plane/events.csv")))
    assert [float(e["t"]) for e in events] == pytest.approx([math.sqrt(21)], abs=1e-6)


def test_two_laws_on_one_freedom_hold_as_long_as_any_choice_of_their_reactions_does(stickslip):
    """0.4 n = 3.6 - 0.015 n - 0.02 (n - 3) at the limit of both, which hold 0.3 n + 0.2 (n - 3) along y."""
    stickslip.write("guides.toml", """
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[2, 0, 0], [0, 2, 0], [0, 0, 0.5]]
force = ["3", "6*sin(2*t)", "3"]
[[constraint]]
name = "up"
position = "x+0.2*phi"
[[constraint]]
name = "lo"
position = "x-0.2*phi"
[[friction]]
name = "fu"
direction = [0, 1, 0.05]
limit = "0.3*abs(r_up)"
[[friction]]
name = "fl"
direction = [0, 1, 0.1]
limit = "0.2*abs(r_lo)"
[run]
scheme = "event"
step = 0.01
end_time = 6
""")
    stickslip.json("run", "guides.toml")
    n = 3.66 / 0.435
    events = list(csv.DictReader(open(stickslip.folder / "guides/events.csv")))
    assert float(events[0]["t"]) == pytest.approx(0.5 * math.asin((0.3 * n + 0.2 * (n - 3)) / 6), abs=1e-9)


@pytest.mark.parametrize("start", [(0.3, 0.5), (-1.4, 0.2), (2.0, -1.0)])
def test_moreau_comes_to_rest_where_forces_cancel(stickslip, start):
    """In the minimum of a double well the force is known to the rounding of x - x^3, the velocity is far smaller than that."""
    stickslip.write("well.toml", f"""
[equations]
coordinates = ["x"]
mass = [[1]]
potential = "(x^2-1)^2/4"
dissipation = "0.3*v_x^2"
[initial]
position = [{start[0]}]
velocity = [{start[1]}]
[run]
scheme = "moreau"
step = 0.05
end_time = 150
""")
    summary = stickslip.json("run", "well.toml")
    assert abs(abs(summary["final"]["position"][0]) - 1) < 1e-12 and abs(summary["final"]["velocity"][0]) < 1e-12


@pytest.mark.parametrize("scale", [1e6, 1, 1e-6, 1e-9])
def test_event_from_rest_under_forces_that_come_later_has_its_tolerance_in_any_unit(stickslip, scale):
    """The load 2 t (cos 3t, sin 3t) breaks planar friction of 1 away at t = 1/2; x and y from an integration of its own."""
    stickslip.write("turn.toml", f"""
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["{2 * scale}*t*cos(3*t)", "{2 * scale}*t*sin(3*t)"]
[[friction]]
on = ["x", "y"]
limit = {scale}
[run]
scheme = "event"
tolerance = 1e-9
step = 1
end_time = 1
""")
    summary = stickslip.json("run", "turn.toml")
    assert [x / scale for x in summary["final"]["position"]] == pytest.approx([-0.0304075545, 0.0257200005], abs=2e-10)
