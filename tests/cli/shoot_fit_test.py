# SPDX-License-Identifier: Apache-2.0
"""shoot and fit from outside: keys of the JSON object, files, exit codes, messages, repetition of the result."""
import json
import resource
import signal
import subprocess
import time

import pytest
from conftest import PROGRAM

PUCK = """
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[friction]]
name = "ice"
on = ["x", "y"]
limit = 2.943
[initial]
velocity = [1, 1]
[run]
scheme = "event"
end_time = 5
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }, { name = "vy", key = "initial.velocity.1" }]
conditions = ["x - 0.6", "y - 0.35"]
"""


def test_shoot_prints_and_stores_its_result(stickslip):
    stickslip.write("puck.toml", PUCK)
    result = stickslip.json("shoot", "puck.toml", "--out", "out")
    assert result["status"] == "success"
    assert result["unknowns"]["vx"] == pytest.approx(1.7465742373036728, abs=1e-9)
    assert result["unknowns"]["vy"] == pytest.approx(1.0188349717604759, abs=1e-9)
    assert result["residual"] < 1e-9
    assert result["iterations"] == len(result["history"]) - 1
    assert set(result["history"][0]) == {"residual", "unknowns"}
    assert [len(row) for row in result["sensitivity"]] == [2, 2]
    assert result["final"]["position"] == pytest.approx([0.6, 0.35], abs=1e-9)
    folder = stickslip.folder / "out"
    assert json.loads((folder / "summary.json").read_text()) == result
    for name in ("history.csv", "trajectory.csv", "events.csv", "result.h5", "report.html"):
        assert (folder / name).exists(), name
    again = stickslip.json("run", "--from", "out")
    assert again["final"]["position"] == pytest.approx([0.6, 0.35], abs=1e-9)


def test_a_target_out_of_reach_is_exit_code_1_and_says_what_sticks(stickslip):
    stickslip.write("puck.toml", PUCK)
    settings = ["--set", "shoot.unknowns.vx.max=1.2", "--set", "shoot.unknowns.vy.max=1.2"]
    result = stickslip.json("shoot", "puck.toml", *settings, code=1)
    assert result["status"] == "not converged"
    assert "condition 'x - 0.6'" in result["message"] and "'ice' stuck" in result["message"]


@pytest.mark.parametrize("change, expected", [
    ("shoot.conditions=['x - 1']", "too few"),
    ("shoot.conditions=['z - 1', 'y']", "unknown name 'z'"),
    ("shoot.unknowns.vx.key=initial.velocity.7", "must lie in 0 .. 1"),
    ("shoot.unknowns.vx.mim=0", "did you mean 'min'?"),
    ("shoot.unknowns.vx.min=3", "must lie in the bounds"),
])
def test_mistakes_are_exit_code_2(stickslip, change, expected):
    stickslip.write("puck.toml", PUCK.replace('"initial.velocity.0" }', '"initial.velocity.0", start = 1 }'))
    result = stickslip("shoot", "puck.toml", "--set", change)
    assert result.returncode == 2 and expected in result.stderr, result.stderr


def test_fit_of_the_belt_model(stickslip, models):
    result = stickslip.json("fit", models / "belt-fit.toml", "--out", "out")
    truth = {"limit": 1.0, "static_limit": 1.5, "viscous": 0.1}
    assert result["status"] == "success"
    for name, value in truth.items():
        assert abs(result["unknowns"][name] - value) < 3 * result["standard_errors"][name], name
    assert result["rms"] == pytest.approx(0.02, rel=0.15)
    assert result["iterations"] > 0
    lines = (stickslip.folder / "out" / "fit.csv").read_text().splitlines()
    assert lines[0] == "t,x,x_model,x_residual" and len(lines) == 401


def test_data_that_the_model_does_not_have_are_told_with_their_line(stickslip, models):
    stickslip.write("bad.csv", "t,y\n0.1,1\n0.2,2\n")
    result = stickslip("fit", models / "belt-fit.toml", "bad.csv")
    assert result.returncode == 2 and "bad.csv:1: column 'y'" in result.stderr
    stickslip.write("bad.csv", "t,x\n0.1,1\n0.2,two\n")
    result = stickslip("fit", models / "belt-fit.toml", "bad.csv")
    assert result.returncode == 2 and "bad.csv:3: 'two' in column 2" in result.stderr


PUSHED = """
[parameters]
{controls}
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["{force}", -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = 0.2
compliance = {{ stiffness = [[1000, 50], [50, 800]], damping = [[20]] }}
[initial]
position = [0, -0.00981]
velocity = [0.5, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 1
[shoot]
unknowns = [{unknowns}]
conditions = ["x - 0.4", "v_x - 0.1"]
closest = true
"""


def pushed(count):
    """A block pushed by a force with `count` constant pieces."""
    names = [f"u{k}" for k in range(count)]
    force = " + ".join(f"if(t >= {k / count} and t < {(k + 1) / count}, {name}, 0)" for k, name in enumerate(names))
    return PUSHED.format(controls="\n".join(f"{name} = 2.0" for name in names), force=force,
                         unknowns=", ".join(f'{{ key = "parameters.{name}", name = "w{name}" }}' for name in names))


def test_fewer_conditions_than_unknowns_have_the_nearest_solution_by_either_kind_of_derivatives(stickslip):
    stickslip.write("pushed.toml", pushed(12))
    found = {}
    for derivatives in ("forward", "adjoint", "automatic"):
        result = stickslip.json("shoot", "pushed.toml", "--set", f"shoot.derivatives={derivatives}")
        assert result["status"] == "success", result["message"]
        assert result["residual"] < 1e-9
        found[derivatives] = result
    assert found["forward"]["derivatives"] == "forward" and "forward derivatives" in found["forward"]["method"]
    assert found["adjoint"]["derivatives"] == found["automatic"]["derivatives"] == "adjoint"
    one, other = (list(found[kind]["unknowns"].values()) for kind in ("forward", "adjoint"))
    assert one == pytest.approx(other, abs=1e-5)
    # Nearest: what is left of the way from the start is a combination of the rows of the conditions.
    rows, way = found["adjoint"]["sensitivity"], [u - 2.0 for u in other]
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    a, b, c = dot(rows[0], rows[0]), dot(rows[0], rows[1]), dot(rows[1], rows[1])
    p, q = dot(rows[0], way), dot(rows[1], way)
    s, t = (p * c - q * b) / (a * c - b * b), (a * q - b * p) / (a * c - b * b)
    rest = [w - s * x - t * y for w, x, y in zip(way, *rows)]
    assert dot(rest, rest) ** 0.5 < 1e-5 * dot(way, way) ** 0.5
    assert found["adjoint"]["distance"] == pytest.approx(dot(way, way) ** 0.5 / 2.0, rel=1e-9)


@pytest.mark.parametrize("settings, expected", [
    (["shoot.closest=false"], "too few"),
    (["shoot.derivatives=backward"], "unknown derivatives 'backward'"),
    (["shoot.derivatives=adjoint", "shoot.segments=3"], "multiple shooting needs the derivatives of every state"),
    (["shoot.derivatives=adjoint", "run.scheme=event", "initial.position.1=0"], "scheme 'compliant' with its inertia has an adjoint, no other"),
    (["shoot.derivatives=adjoint", "shoot.conditions=['x - 0.4', 'r_floor_t1 + 1']"], "a condition names a reaction"),
])
def test_an_adjoint_that_cannot_be_had_is_told_with_the_reason(stickslip, settings, expected):
    stickslip.write("pushed.toml", pushed(4))
    result = stickslip("shoot", "pushed.toml", *(part for setting in settings for part in ("--set", setting)))
    assert result.returncode == 2 and expected in result.stderr, result.stderr


STATIC = """
[parameters]
mu = 0.3
h = 0.2
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["if(t < 0.1, 1, 0)", -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = "mu"
{static}
compliance = {{ stiffness = [[1000, 0], [0, 800]], damping = 20, normal_damping = {damping} }}
[initial]
position = [0, "h"]
velocity = [1, 0]
[run]
scheme = "compliant"
step = 0.001
end_time = 0.5
[run.compliant]
integrator = "{integrator}"
[shoot]
closest = true
derivatives = "adjoint"
unknowns = [{{ name = "mu", key = "parameters.mu" }}, {{ name = "h", key = "parameters.h" }}]
conditions = ["x - 0.3"]
"""


@pytest.mark.parametrize("static, damping, integrator", [("mu_static = 0.5", 5, "explicit"), ("", 0, "rk4"), ("mu_static = 0.5", 5, "heun")])
def test_adjoint_and_columns_agree_where_forces_jump(stickslip, static, damping, integrator):
    stickslip.write("static.toml", STATIC.format(static=static, damping=damping, integrator=integrator))
    back = stickslip.json("shoot", "static.toml")
    forward = stickslip.json("shoot", "static.toml", "--set", "shoot.derivatives=forward")
    assert back["derivatives"] == "adjoint" and back["status"] == forward["status"] == "success"
    assert back["sensitivity"][0] == pytest.approx(forward["sensitivity"][0], rel=1e-6)
    assert list(back["unknowns"].values()) == pytest.approx(list(forward["unknowns"].values()), rel=1e-5)


def test_an_adjoint_that_is_refused_says_why_and_what_helps(stickslip):
    """A jump of the force lies at the end of the run: a change of h takes it away."""
    model = STATIC.format(static="", damping=0, integrator="explicit").replace("t < 0.1", "t < 10*h - 1.5")
    stickslip.write("static.toml", model)
    result = stickslip("shoot", "static.toml")
    assert result.returncode == 1 and "'parameters.h' makes a jump of a force come or go" in result.stderr, result.stderr
    assert 'use derivatives = "forward"' in result.stderr and "change the start" not in result.stderr
    for derivatives in ("forward", "automatic"):
        assert stickslip("shoot", "static.toml", "--set", f"shoot.derivatives={derivatives}").returncode == 0


def test_with_segments_the_nearest_solution_is_the_same(stickslip):
    stickslip.write("pushed.toml", pushed(6))
    whole = stickslip.json("shoot", "pushed.toml")
    parts = stickslip.json("shoot", "pushed.toml", "--set", "shoot.segments=3")
    assert whole["status"] == parts["status"] == "success"
    assert any("of all solutions the one nearest" in note for note in parts["notes"]), parts["notes"]
    assert parts["distance"] == pytest.approx(whole["distance"], rel=1e-8)
    assert list(parts["unknowns"].values()) == pytest.approx(list(whole["unknowns"].values()), abs=1e-5)


def test_the_nearest_solution_keeps_to_bounds_and_leaves_those_it_need_not_meet(stickslip):
    stickslip.write("pushed.toml", pushed(6))
    free = stickslip.json("shoot", "pushed.toml")
    first = free["unknowns"]["wu0"]
    bound = ["--set", f"shoot.unknowns.wu0.{'min' if first < 2 else 'max'}={2 + 0.5 * (first - 2)}"]
    held = stickslip.json("shoot", "pushed.toml", *bound)
    assert held["status"] == "success" and held["unknowns"]["wu0"] == pytest.approx(2 + 0.5 * (first - 2), rel=1e-12)
    assert held["distance"] > free["distance"]
    # Of what is left of the way, the part of the other unknowns is a combination of the rows of the conditions.
    rows, way = [row[1:] for row in held["sensitivity"]], [u - 2.0 for u in list(held["unknowns"].values())[1:]]
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    a, b, c = dot(rows[0], rows[0]), dot(rows[0], rows[1]), dot(rows[1], rows[1])
    p, q = dot(rows[0], way), dot(rows[1], way)
    s, t = (p * c - q * b) / (a * c - b * b), (a * q - b * p) / (a * c - b * b)
    rest = [w - s * x - t * y for w, x, y in zip(way, *rows)]
    assert dot(rest, rest) ** 0.5 < 1e-5 * dot(way, way) ** 0.5


TWO_SPRINGS = """
[parameters]
k = 3.0
unseen = 2.0
push = 0.1
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [["k", 0], [0, "unseen"]]
force = ["max(push - 1, 0)", 0]
[[friction]]
on = "x"
limit = 0.05
[initial]
position = [1, 1]
[run]
scheme = "{scheme}"
{steps}
end_time = 2
[fit]
unknowns = [{{ name = "k", key = "parameters.k", start = 2.5 }}, {{ name = "other", key = "parameters.{other}" }}]
"""


@pytest.mark.parametrize("scheme, steps", [("event", ""), ("moreau", "step = 0.01")])
def test_a_fit_names_an_unknown_that_no_measured_column_depends_on_at_once(stickslip, scheme, steps):
    stickslip.write("m.toml", TWO_SPRINGS.format(scheme=scheme, steps=steps, other="unseen"))
    stickslip("run", "m.toml", "--set", "run.output_step=0.1", "--out", "data")
    columns = (stickslip.folder / "data" / "trajectory.csv").read_text().splitlines()
    stickslip.write("data.csv", "\n".join(",".join(line.split(",")[:2]) for line in columns))
    result = stickslip("fit", "m.toml", "data.csv")
    assert result.returncode == 2 and "no measured column depends on the unknown 'other' (parameters.unseen)" in result.stderr
    # One that has an effect elsewhere is started there.
    stickslip.write("m.toml", TWO_SPRINGS.format(scheme=scheme, steps=steps, other="push"))
    moved = json.loads(stickslip("fit", "m.toml", "data.csv", "--json").stdout)
    assert any("near its start 0.1; started from" in note for note in moved["notes"]), moved
    assert abs(moved["unknowns"]["other"]) < 100


def test_what_failed_is_not_called_nearest(stickslip):
    stickslip.write("pushed.toml", pushed(4))
    failed = stickslip("shoot", "pushed.toml", "--set", "shoot.conditions=['x - 0.4', 'x - 0.5']", "--json")
    assert failed.returncode == 1 and not any("nearest" in note for note in json.loads(failed.stdout)["notes"])


DISKS = """
[parameters]
mu = 0.3227597409107484
F = 10.759160490088483
w = 2.1929137927014786
[matrices]
coordinates = ["x", "y", "z", "r"]
mass = [[1.7415538907306627, 0, 0, 0], [0, 1.7415538907306627, 0, 0], [0, 0, 1.7415538907306627, 0], [0, 0, 0, 0.034831077814613254]]
force = ["F*sin(w*t)", "0.6*F*cos(1.3*w*t)", "-17.0846436680678 + 0.9*F*sin(2*w*t + 1)", "0.03*F*sin(3*t)"]
[[contact]]
gap = "z - 0.15*r"
slip = ["x", "y"]
mu = "mu"
[contact.compliance]
stiffness = [[3084.77, -222.33, 130.75], [-222.33, 4374.35, -104.61], [130.75, -104.61, 3090.18]]
damping = [[88.81, -33.92], [-33.92, 125.68]]
[[contact]]
gap = "z + 0.15*r"
slip = ["x", "y"]
mu = "mu*1.2"
[contact.compliance]
stiffness = [[4804.94, 1256.0, -252.77], [1256.0, 4004.07, -633.08], [-252.77, -633.08, 4228.67]]
damping = [[82.56, 4.6], [4.6, 75.9]]
[initial]
position = [0, 0, -0.005, 0]
velocity = [0.5060604154043558, 0, 0, 0]
[run]
scheme = "compliant"
end_time = 1.2
output_step = 0.1
tolerance = 1e-11
[run.compliant]
integrator = "explicit"
[shoot]
unknowns = [{ name = "mu", key = "parameters.mu" }, { name = "F", key = "parameters.F" }, { name = "v", key = "initial.velocity.0" }]
conditions = ["x - 1.494", { at = 0.7, value = "r - 0.0101" }, "v_x - 1.787"]
tolerance = 0.1
"""


def test_the_adjoint_of_disks_does_not_depend_on_how_steps_go_over_rims(stickslip):
    stickslip.write("disks.toml", DISKS)
    forward, adjoint = (stickslip.json("shoot", "disks.toml", "--set", f"shoot.derivatives={way}", "--out", way)["sensitivity"] for way in ("forward", "adjoint"))
    for one, other in zip(forward, adjoint):
        assert other == pytest.approx(one, rel=1e-5, abs=1e-7)


STUCK = """
[parameters]
F = 4.0
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["F"]
[[friction]]
name = "f"
on = "x"
limit = 30
[run]
scheme = "event"
end_time = 1
[{command}]
unknowns = [{{ name = "L", key = "friction.f.limit" }}]
{conditions}
"""

STUCK_CONTACT = """
[matrices]
coordinates = ["x", "z"]
mass = { diagonal = 1 }
force = [4, -10]
[[contact]]
name = "f"
gap = "z"
slip = "x"
mu = 0.9
compliance = { stiffness = 1e4, damping = 100 }
[run]
scheme = "event"
end_time = 1
[shoot]
unknowns = [{ name = "mu", key = "contact.f.mu" }]
conditions = ["x - 0.5"]
"""

DROPPED = """
[matrices]
coordinates = ["y"]
mass = [[1]]
force = [-9.81]
[[contact]]
name = "f"
gap = "y"
restitution = 0.3
[initial]
position = [1.0]
[run]
scheme = "event"
end_time = 0.9
[shoot]
unknowns = [{ name = "e", key = "contact.f.restitution" }]
conditions = ["y - 0.4040037846471308", "v_y + 1.2989402392809661"]
"""


@pytest.mark.parametrize("model, name, value", [
    (STUCK.format(command="shoot", conditions='conditions = ["x - 0.5"]'), "L", 3.0),  # x = (F - L) t^2 / 2
    (STUCK.format(command="shoot", conditions='conditions = ["x - 0.5", "v_x - 1"]'), "L", 3.0),
    (STUCK.format(command="shoot", conditions='conditions = ["x - 0.5"]').replace("limit = 30", "limit = 3e4"), "L", 3.0),
    (STUCK_CONTACT, "mu", 0.3),
    (DROPPED, "e", 0.7),  # one bounce: y and v_y after 0.9 s from 1 m
])
def test_a_start_without_effect_is_moved_to_where_there_is_a_derivative(stickslip, model, name, value):
    stickslip.write("m.toml", model)
    result = stickslip.json("shoot", "m.toml")
    assert result["status"] == "success" and result["residual"] < 1e-9
    assert result["unknowns"][name] == pytest.approx(value, rel=1e-8)
    assert any(f"nothing changes with '{name}' near its start" in note for note in result["notes"])


def test_least_squares_on_a_plateau_are_no_success(stickslip):
    """Nothing moves from L = 4 on, and the squares are least there: what L is, nobody can say."""
    stickslip.write("m.toml", STUCK.format(command="shoot", conditions='conditions = ["x + 1", "v_x + 1"]'))
    result = stickslip.json("shoot", "m.toml", code=1)
    assert result["status"] == "not converged" and "nothing changes with 'L' near there" in result["message"]
    assert not any("as small as possible" in note for note in result["notes"])


def test_a_fit_that_starts_stuck_does_not_end_at_a_limit_of_0(stickslip):
    stickslip.write("m.toml", STUCK.format(command="fit", conditions=""))
    rows = [(k / 10, 0.5 * (k / 10) ** 2 + (-1) ** k * 1e-3) for k in range(1, 11)]  # L = 3, and an error
    stickslip.write("data.csv", "t,x\n" + "\n".join(f"{t},{x}" for t, x in rows))
    result = stickslip.json("fit", "m.toml", "data.csv")
    assert result["status"] == "success"
    assert abs(result["unknowns"]["L"] - 3) < 3 * result["standard_errors"]["L"] < 0.02


def test_a_puck_that_starts_far_too_slow_is_started_faster(stickslip, models):
    slow = ["--set", "shoot.unknowns.vx.start=1e-4", "--set", "shoot.unknowns.vy.start=1e-4"]
    result = stickslip.json("shoot", models / "puck-to-target.toml", *slow)
    assert result["status"] == "success" and result["residual"] < 1e-9


COARSE = """
[matrices]
coordinates = ["z"]
mass = [[1]]
force = [-9.81]
[[contact]]
gap = "z"
compliance = { stiffness = 5000 }
[initial]
position = [-0.001962]
[run]
scheme = "compliant"
step = 0.014
end_time = 0.2
[run.compliant]
integrator = "heun"
[shoot]
unknowns = [{ name = "v", key = "initial.velocity.0", start = 0.01 }]
conditions = ["z + 0.0022"]
"""


def test_a_motion_that_fails_its_audit_is_no_solution(stickslip):
    """Steps far too large for the spring of the contact, which the energy of the motion tells."""
    stickslip.write("m.toml", COARSE)
    result = stickslip.json("shoot", "m.toml", "--out", "out", code=1)
    assert result["residual"] < 1e-9 and result["status"] == "audit failed" and "audit" in result["message"]
    assert stickslip("run", "--from", "out", "--out", "again").returncode == 1


def limited(bytes_, kind=resource.RLIMIT_FSIZE):
    return lambda: resource.setrlimit(kind, (bytes_, bytes_))


@pytest.mark.parametrize("command, arguments", [("shoot", []), ("fit", ["data.csv"])])
@pytest.mark.parametrize("room", [10_000, 100_000])
def test_a_full_disk_does_not_take_the_unknowns_away(stickslip, command, arguments, room):
    """Room for nothing, and for all but the page."""
    stickslip.write("m.toml", STUCK.format(command=command, conditions='conditions = ["x - 0.5"]' if command == "shoot" else ""))
    stickslip.write("data.csv", "t,x\n" + "\n".join(f"{k / 10},{0.5 * (k / 10) ** 2}" for k in range(1, 11)))
    for form in ([], ["--json"]):
        result = subprocess.run([PROGRAM, command, "m.toml", *arguments, "--out", "out", *form], cwd=stickslip.folder, capture_output=True, text=True,
                                preexec_fn=limited(room), timeout=300)
        assert result.returncode == 1 and "File too large" in result.stderr, result.stderr
        assert not (stickslip.folder / "out" / "summary.json").exists()
        if form:
            assert json.loads(result.stdout)["unknowns"]["L"] == pytest.approx(3, rel=1e-6)
            assert json.loads(result.stdout)["status"] == "interrupted"
        else:
            assert "  L                = 3" in result.stdout


@pytest.mark.parametrize("command", ["shoot", "fit"])
def test_a_new_folder_of_a_search_is_its_own_while_it_lasts(stickslip, models, command):
    model = models / ("belt-fit.toml" if command == "fit" else "puck-to-target.toml")
    slow = ["--set", "shoot.segments=400"] if command == "shoot" else ["--set", "fit.starts=100000"]
    search = subprocess.Popen([PROGRAM, command, model, *slow, "--out", "out"], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (stickslip.folder / "out").exists():
            assert search.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
        second = stickslip(command, model, "--out", "out")
        assert second.returncode == 2 and "out" in second.stderr, second.stderr
    finally:
        search.kill()
        search.wait()
    # What is wrong leaves nothing behind.
    wrong = ["--set", "fit.unknowns.limit.start=-1"] if command == "fit" else ["--set", "shoot.conditions=['t - 1', 't - 1']"]
    assert stickslip(command, model, *wrong, "--out", "none").returncode == 2
    assert not (stickslip.folder / "none").exists()


def test_many_measurements_need_memory_in_proportion(stickslip):
    """A square matrix of 30,000 rows would be 7 GB."""
    stickslip.write("m.toml", STUCK.format(command="fit", conditions="").replace("limit = 30", "limit = 2"))
    rows = [(k / 30_000, 0.5 * (k / 30_000) ** 2 + (-1) ** k * 1e-3) for k in range(1, 30_001)]
    stickslip.write("data.csv", "t,x\n" + "\n".join(f"{t},{x}" for t, x in rows))
    result = subprocess.run([PROGRAM, "fit", "m.toml", "data.csv", "--json"], cwd=stickslip.folder, capture_output=True, text=True,
                            preexec_fn=limited(2 << 30, resource.RLIMIT_AS), timeout=300)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["values"] == 30_000 and abs(found["unknowns"]["L"] - 3) < 3 * found["standard_errors"]["L"]


def test_unknowns_that_only_together_have_an_effect_have_no_correlation(stickslip):
    """L and F count by their difference alone while the block slides."""
    model = STUCK.format(command="fit", conditions="").replace("limit = 30", "limit = 2")
    stickslip.write("m.toml", model.replace('"friction.f.limit" }', '"friction.f.limit" }, { name = "push", key = "parameters.F" }'))
    stickslip.write("data.csv", "t,x\n" + "\n".join(f"{k / 10},{0.5 * (k / 10) ** 2 + (-1) ** k * 1e-3}" for k in range(1, 11)))
    result = stickslip.json("fit", "m.toml", "data.csv", code=1)
    assert "'L' and 'push' one by one" in result["message"]
    assert result["correlation"] == [[None, None], [None, None]]


def test_data_whose_squares_overflow_are_refused_with_their_column(stickslip):
    stickslip.write("m.toml", STUCK.format(command="fit", conditions=""))
    stickslip.write("data.csv", "t,x\n0.1,0.005\n0.2,1e300\n0.3,0.045\n")
    result = stickslip("fit", "m.toml", "data.csv")
    assert result.returncode == 2 and "column 'x'" in result.stderr and "1e+300" in result.stderr


FLIGHT = """
[matrices]
coordinates = ["y"]
mass = [[1]]
force = ["-9.81 - 0.1*y"]
[run]
scheme = "event"
end_time = 1
[shoot]
segments = 2000
unknowns = [{ name = "v", key = "initial.velocity.0", start = 1 }]
conditions = ["y - 1"]
"""


def test_a_stop_is_heard_where_very_many_segments_are_factored(stickslip):
    stickslip.write("m.toml", FLIGHT)
    search = subprocess.Popen([PROGRAM, "shoot", "m.toml", "--out", "out"], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    begin = time.monotonic()
    search.send_signal(signal.SIGINT)
    try:
        _, told = search.communicate(timeout=60)
    finally:
        search.kill()
    assert search.returncode == 1 and "interrupted" in told, told
    assert time.monotonic() - begin < 30


FROM_ZERO = """
[parameters]
F = 0
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["F"]
[[friction]]
on = "x"
limit = {limit}
[run]
scheme = "{scheme}"
{step}
end_time = 1
[shoot]
tolerance = 1e-8
unknowns = [{{ name = "u", key = "{key}", start = 0 }}]
conditions = ["x - {target}"]
"""


@pytest.mark.parametrize("scheme, step", [("event", "tolerance = 1e-10"), ("moreau", "step = 0.001")])
@pytest.mark.parametrize("key, value", [("parameters.F", 3.6), ("initial.velocity.0", 3.2**0.5)])
@pytest.mark.parametrize("unit", [1e-6, 1, 1e6])
def test_an_unknown_that_starts_at_0_is_found_in_any_unit_of_length(stickslip, scheme, step, key, value, unit):
    """x = (F - 2) t^2 / 2 = 0.8, and v^2 / 4 = 0.8; steps of 1 ms miss the instant of rest by 1e-7."""
    stickslip.write("m.toml", FROM_ZERO.format(scheme=scheme, step=step, key=key, limit=2 * unit, target=0.8 * unit))
    result = stickslip.json("shoot", "m.toml")
    assert result["status"] == "success"
    assert result["unknowns"]["u"] / unit == pytest.approx(value, rel=1e-6)


def test_an_unknown_without_any_effect_is_refused_with_scale_among_the_remedies(stickslip):
    text = FROM_ZERO.format(scheme="event", step="", key="parameters.unused", limit=2, target=0.8)
    stickslip.write("m.toml", text.replace("F = 0", "F = 0\nunused = 0"))
    result = stickslip("shoot", "m.toml")
    assert result.returncode == 2 and "`scale`" in result.stderr, result.stderr


STOPPING = """
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
potential = "9.81*z"
[[contact]]
name = "plane"
gap = "z"
slip = ["x"]
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, 1000]], damping = [[20]] }
[initial]
position = [0, -0.00981]
velocity = [1, 0]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 3
output_step = 5
[shoot]
unknowns = [{ name = "v", key = "initial.velocity.0", start = 1.0 }]
conditions = ["x - 0.8"]
"""


@pytest.mark.parametrize("step, times", [(5, [0, 3]), (0.7, [0, 0.7, 1.4, 2.1, 2.8, 3]), (1.5, [0, 1.5, 3])])
@pytest.mark.parametrize("segments", [1, 2])
def test_the_last_row_is_that_at_the_end_whatever_the_step_of_the_output(stickslip, step, times, segments):
    stickslip.write("m.toml", STOPPING)
    settings = ["--set", f"run.output_step={step}", "--set", f"shoot.segments={segments}", "--set", "shoot.unknowns.v.start=2.5"]
    result = stickslip.json("shoot", "m.toml", *settings, "--out", "out")
    rows = [line.split(",") for line in (stickslip.folder / "out" / "trajectory.csv").read_text().splitlines()[1:]]
    assert [float(row[0]) for row in rows] == pytest.approx(times, abs=1e-12)
    assert float(rows[-1][1]) == pytest.approx(result["final"]["position"][0], abs=1e-12)


@pytest.mark.parametrize("segments", [3, 4, 5, 6])
def test_a_block_that_must_stop_is_found_with_segments_as_with_one(stickslip, segments):
    stickslip.write("m.toml", STOPPING)
    one = stickslip.json("shoot", "m.toml")
    many = stickslip.json("shoot", "m.toml", "--set", f"shoot.segments={segments}")
    assert many["status"] == "success"
    assert many["unknowns"]["v"] == pytest.approx(one["unknowns"]["v"], rel=1e-7)


def test_what_is_left_after_a_failure_in_segments_is_that_of_a_run_with_the_unknowns(stickslip):
    stickslip.write("m.toml", STOPPING)
    settings = ["--set", "shoot.segments=3", "--set", "shoot.max_iterations=2"]
    result = stickslip.json("shoot", "m.toml", *settings, code=1)
    again = stickslip.json("run", "m.toml", "--set", f"initial.velocity.0={result['unknowns']['v']!r}")
    assert result["conditions"][0]["value"] == pytest.approx(again["final"]["position"][0] - 0.8, abs=1e-7)
    assert result["final"]["position"] == pytest.approx(again["final"]["position"], abs=1e-7)
