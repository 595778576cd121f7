# SPDX-License-Identifier: Apache-2.0
"""Runs that go on, runs that are repeated, and two runs that want the same folder."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # a reader that polls must not keep the writer from opening its file
import h5py
import numpy
import pytest

from conftest import PROGRAM
from interrupt_test import LONG
from run_test import BLOCK

PLANAR = """
[matrices]
mass = [[1, 0], [0, 1]]
stiffness = [[4, 1], [1, 3]]
force = ["2*cos(t)", "sin(1.3*t)"]
coordinates = ["x", "y"]
[[friction]]
on = ["x", "y"]
limit = 0.4
[initial]
velocity = [1, -0.5]
[run]
step = 0.01
end_time = 8
"""
WEAKENING = """
[matrices]
mass = [[1, 0], [0, 2]]
stiffness = [[3, -1], [-1, 2]]
damping = [[0.1, 0], [0, 0.2]]
force = ["0.8*sin(1.1*t)", 0]
[[friction]]
on = "x1"
limit = 0.5
static_limit = 0.7
weakening = { shape = "tanh", beta = 0.2, epsilon = 0.1 }
[[friction]]
on = "x2"
limit = 0.3
[initial]
position = [1, -1]
[run]
step = 0.003
end_time = 9
output_step = 0.01
"""
PENDULUM = """
[equations]
coordinates = ["phi"]
mass = [["1 + 0.3*cos(phi)"]]
force = ["-9.81*sin(phi) + 0.5*cos(2*t)"]
[[friction]]
on = "phi"
limit = 0.2
[initial]
position = [1.2]
[run]
step = 0.002
end_time = 6
"""
BOXES = """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "a"
mass = 2
inertia = [0.01, 0.02, 0.015]
position_0 = [0, 0, 0.06]
velocity_0 = [1, 0.2, 0]
spin_0 = [0, 0, 3]
[[shape]]
body = "a"
kind = "box"
size = [0.2, 0.1, 0.1]
[[body]]
name = "b"
mass = 1
inertia = [0.002, 0.002, 0.002]
position_0 = [0.02, 0.01, 0.19]
[[shape]]
body = "b"
kind = "sphere"
radius = 0.05
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["*", "*"]
mu = 0.3
restitution = 0.2
[run]
step = 0.001
end_time = 1.5
"""
MODELS = {"planar": PLANAR, "weakening": WEAKENING, "pendulum": PENDULUM, "boxes": BOXES, "block": BLOCK}
FILES = ["events.csv", "report.html", "result.h5", "summary.json", "trajectory.csv"]


def tables(folder):
    with h5py.File(folder / "result.h5", "r") as file:
        names = [name for name in ["t", "position", "velocity", "reaction", "energy", "modes", "smooth", "friction_velocity"] if name in file]
        names += [f"events/{name}" for name in file["events"]]
        names += [f"contact_forces/{name}" for name in file.get("contact_forces", [])]
        return {name: file[name][:] for name in names}


def same(one, other):
    first, second = tables(one), tables(other)
    assert first.keys() == second.keys()
    for name in first:
        equal = first[name].tobytes() == second[name].tobytes()  # apart: nobody wants to see the difference of megabytes
        assert equal, name
    for name in ["trajectory.csv", "events.csv"]:
        equal = (one / name).read_bytes() == (other / name).read_bytes()
        assert equal, name
    a, b = (json.loads((folder / "summary.json").read_text()) for folder in (one, other))
    for key in ["status", "steps", "problems", "end_time", "final", "events", "audit"]:
        assert a[key] == b[key], key


@pytest.mark.parametrize("scheme", ["moreau", "splitting"])
@pytest.mark.parametrize("name", MODELS)
def test_a_run_in_two_parts_is_the_same_to_the_last_bit(stickslip, name, scheme):
    if scheme == "splitting" and name in ("pendulum", "boxes"):
        pytest.skip("splitting takes [matrices]")
    stickslip.write("model.toml", MODELS[name])
    common = ["--scheme", scheme]
    assert stickslip("run", "model.toml", "--out", "whole", *common).returncode == 0
    end = json.loads((stickslip.folder / "whole/summary.json").read_text())["end_time"]
    for part in (0.3, 0.7):
        if part == 0.3:
            first = stickslip("run", "model.toml", "--out", "r", *common, "--set", f"run.end_time={round(part * end, 9)!r}")
        else:
            first = stickslip("run", "model.toml", "--restart", "r", *common, "--set", f"run.end_time={round(part * end, 9)!r}")
        assert first.returncode == 0, first.stderr
    last = stickslip("run", "model.toml", "--restart", "r", "--out", "r", *common)
    assert last.returncode == 0, last.stderr
    same(stickslip.folder / "whole", stickslip.folder / "r")
    assert sorted(p.name for p in (stickslip.folder / "r").iterdir()) == FILES
    parts = json.loads((stickslip.folder / "r/summary.json").read_text())["parts"]
    assert [part["until"] for part in parts] == [pytest.approx(0.3 * end), pytest.approx(0.7 * end)]
    assert "Inputs" in (stickslip.folder / "r/report.html").read_text()


@pytest.mark.parametrize("scheme", ["event", "viscoelastic"])
def test_schemes_with_steps_of_their_own_go_on_within_their_tolerance(stickslip, models, scheme):
    path = models / "two-hinges.toml"
    options = ["--scheme", scheme, "--set", "run.tolerance=1e-10"]
    stickslip("run", path, "--out", "whole", *options)
    stickslip("run", path, "--out", "r", *options, "--set", "run.end_time=10")
    assert stickslip("run", path, "--restart", "r", *options).returncode == 0
    whole, parts = (json.loads((stickslip.folder / name / "summary.json").read_text()) for name in ("whole", "r"))
    assert parts["final"]["position"] == pytest.approx(whole["final"]["position"], abs=1e-7)
    for item in ["energy_work_in", "energy_friction_loss", "energy_stored"]:  # the ledger went on, it did not begin anew
        assert parts["audit"][item]["value"] == pytest.approx(whole["audit"][item]["value"], abs=1e-6)
    with h5py.File(stickslip.folder / "r/result.h5") as file:
        assert file["t"][0] == 0 and (numpy.diff(file["t"][:]) > 0).all() and file["t"][-1] == 30


def run_until_stored(stickslip, seconds_of_motion, how, *arguments):
    """Starts a run and ends it once that much is stored."""
    process = subprocess.Popen([PROGRAM, "run", *arguments], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    path = stickslip.folder / "r/result.h5"
    while True:
        assert process.poll() is None, process.communicate()[1]
        try:
            with h5py.File(path, "r", libver="latest", swmr=True) as file:
                latest = file["restart/latest"][0]
                # The first states, of a fraction of a second, come without the memory of the scheme.
                if latest >= 0 and file["restart/t"][latest % 2] > seconds_of_motion and file["restart/counts"][latest % 2][2] > 0:
                    break
        except (OSError, KeyError):
            pass
    process.send_signal(how)
    process.communicate()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_ended_from_outside_and_goes_on_is_the_same_to_the_last_bit(stickslip, how):
    stickslip.write("long.toml", LONG.replace("end_time = 1e6", "end_time = 1e5"))
    run_until_stored(stickslip, 100, how, "long.toml", "--out", "r")
    with h5py.File(stickslip.folder / "r/result.h5", "r", libver="latest", swmr=True) as file:
        reached = float(file["restart/t"][file["restart/latest"][0] % 2])
    end = round(0.03 * (int(reached / 0.03) + 5000), 9)
    setting = ["--set", f"run.end_time={end!r}"]
    # The model need not be named again: the result holds it.
    second = stickslip("run", "--restart", "r", *setting)
    assert second.returncode == 0, second.stderr
    assert stickslip("run", "long.toml", "--out", "whole", *setting).returncode == 0
    same(stickslip.folder / "whole", stickslip.folder / "r")


def test_another_folder_gets_the_whole_and_the_first_one_stays_as_it_is(stickslip):
    stickslip.write("block.toml", BLOCK)
    stickslip("run", "block.toml", "--out", "first", "--set", "run.end_time=0.5")
    before = {path.name: path.read_bytes() for path in (stickslip.folder / "first").iterdir()}
    assert stickslip("run", "block.toml", "--restart", "first", "--out", "second").returncode == 0
    assert {path.name: path.read_bytes() for path in (stickslip.folder / "first").iterdir()} == before
    stickslip("run", "block.toml", "--out", "whole")
    same(stickslip.folder / "whole", stickslip.folder / "second")


def test_what_is_changed_counts_from_the_restart_on(stickslip):
    stickslip.write("block.toml", BLOCK)
    stickslip("run", "block.toml", "--out", "r", "--set", "run.end_time=0.5", "--set", "initial.velocity=[2]")
    result = stickslip("run", "block.toml", "--restart", "r", "--set", "friction.shoe.limit=4")
    assert "--set initial.velocity=[2]" in result.stderr  # no longer given
    table = numpy.genfromtxt(stickslip.folder / "r/trajectory.csv", delimiter=",", names=True)
    assert len(table["t"]) == 201
    speed = numpy.where(table["t"] <= 0.5, 2 - table["t"], numpy.maximum(0, 1.5 - 4 * (table["t"] - 0.5)))
    assert numpy.allclose(table["v_x1"], speed, atol=1e-9)


def test_another_model_is_refused(stickslip):
    stickslip.write("block.toml", BLOCK)
    stickslip.write("other.toml", BLOCK.replace('"shoe"', '"sole"'))
    stickslip("run", "block.toml", "--out", "r", "--set", "run.end_time=0.5")
    before = (stickslip.folder / "r/result.h5").read_bytes()
    result = stickslip("run", "other.toml", "--restart", "r")
    assert result.returncode == 2 and "shoe" in result.stderr and "sole" in result.stderr
    assert (stickslip.folder / "r/result.h5").read_bytes() == before


def test_one_run_at_a_time_in_a_folder(stickslip):
    stickslip.write("long.toml", LONG)
    process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", "r"], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (stickslip.folder / "r/result.h5").exists():
            assert process.poll() is None
        for arguments in (["run", "long.toml", "--out", "r"], ["run", "--restart", "r"], ["compare", "long.toml", "--out", "r", "--steps", "0.1"]):
            second = stickslip(*arguments)
            assert second.returncode == 2, second.stderr
            assert "r: another run is writing its results there" in second.stderr
    finally:
        process.kill()
        process.wait()
    stickslip.write("block.toml", BLOCK)  # the lock is gone with the process
    assert stickslip("run", "block.toml", "--out", "r").returncode == 0


def test_every_result_holds_its_inputs(stickslip):
    text = BLOCK.replace("limit = 1", 'limit = "c"').replace("[matrices]", "[parameters]\nc = 1\nd = \"2*c\"\n[matrices]")
    stickslip.write("block.toml", text)
    summary = stickslip.json("run", "block.toml", "--set", "parameters.c=2", "--set", "run.end_time=1")
    assert summary["model_text"] == text
    assert summary["set"] == ["parameters.c=2", "run.end_time=1"]
    assert summary["parameters"] == {"c": 2, "d": 4}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", summary["date"])
    with h5py.File(stickslip.folder / "block/result.h5") as file:
        assert file["inputs/model_text"][0].decode() == text
        assert [s.decode() for s in file["inputs/set"]] == summary["set"]
        assert dict(zip([s.decode() for s in file["inputs/parameter_names"]], file["inputs/parameter_values"])) == summary["parameters"]
        assert file.attrs["date"].decode() == summary["date"] and file.attrs["version"].decode() == summary["version"]
    page = (stickslip.folder / "block/report.html").read_text()
    for part in ["parameters.c=2", summary["date"], "velocity = [1]"]:
        assert part in page


def test_from_repeats_a_run_without_its_model_file_and_tables(stickslip):
    (stickslip.folder / "data").mkdir()
    stickslip.write("data/load.csv", "0, 0.5\n1, 2\n2, 0\n")
    stickslip.write("data/stiffness.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n")
    stickslip.write("data/block.toml", BLOCK.replace("mass = [[1]]", 'mass = [[1]]\nstiffness = "stiffness.mtx"\nforce = [{ table = "load.csv" }]'))
    first = stickslip("run", "data/block.toml", "--out", "r", "--set", "friction.shoe.limit=0.3", "--scheme", "splitting")
    assert first.returncode == 0, first.stderr
    shutil.rmtree(stickslip.folder / "data")
    again = stickslip("run", "--from", "r")
    assert again.returncode == 0, again.stderr
    same(stickslip.folder / "r", stickslip.folder / "r-again")
    third = stickslip.json("run", "--from", "r-again/", "--out", "third", "--set", "run.end_time=1")
    assert third["end_time"] == 1 and third["set"] == ["friction.shoe.limit=0.3", "run.scheme=splitting", "run.end_time=1"]


def test_replacing_earlier_results_is_said(stickslip):
    stickslip.write("block.toml", BLOCK)
    assert stickslip("run", "block.toml", "--json").stderr == ""
    second = stickslip("run", "block.toml", "--json")
    assert second.returncode == 0 and json.loads(second.stdout)["status"] == "success"
    assert "block replace those of an earlier run" in second.stderr and "--out" in second.stderr
    assert "in place of an earlier run" in stickslip("run", "block.toml").stdout
    assert stickslip("run", "block.toml", "--out", "block", "--json").stderr == ""  # asked for by name


def test_forces_between_bodies_are_stored_pair_by_pair(stickslip):
    stickslip.write("boxes.toml", BOXES.replace("velocity_0 = [1, 0.2, 0]", "").replace("spin_0 = [0, 0, 3]", "").replace("position_0 = [0, 0, 0.06]", "position_0 = [0, 0, 0.05]")
                    .replace("[0.02, 0.01, 0.19]", "[0, 0, 0.15]").replace("restitution = 0.2", "restitution = 0"))
    assert stickslip("run", "boxes.toml", "--out", "r").returncode == 0
    with h5py.File(stickslip.folder / "r/result.h5") as file:
        bodies = [name.decode() for name in file["names/bodies"]]
        points = {name: file[f"contact_forces/{name}"][:] for name in ["t", "first", "second", "force", "end"]}
        t = file["t"][:]
    assert bodies == ["a", "b"] and len(points["end"]) == len(t) and points["end"][-1] == len(points["t"])
    last = points["t"] == t[-1]
    pairs = {}
    for first, second, force in zip(points["first"][last], points["second"][last], points["force"][last]):
        pairs[frozenset((first, second))] = pairs.get(frozenset((first, second)), 0) + abs(force[2])
    assert pairs[frozenset((0, -1))] == pytest.approx(3 * 9.81, rel=1e-6)  # the ground carries both
    assert pairs[frozenset((0, 1))] == pytest.approx(9.81, rel=1e-6)


def peak_memory(arguments, folder):
    process = subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss  # kB


def test_memory_does_not_grow_with_the_trajectory(stickslip):
    stickslip.write("long.toml", LONG.replace("output_step = 0.03\n", ""))
    short, long = (peak_memory(["run", "long.toml", "--out", "r", "--set", f"run.end_time={end}"], stickslip.folder) for end in (3, 1800))
    rows = 600_000  # x 20 numbers of 8 bytes: 96 MB
    assert len(open(stickslip.folder / "r/trajectory.csv").readlines()) == rows + 2
    assert long - short < 70_000
    page = (stickslip.folder / "r/report.html").read_text()
    assert "Thinned from 600001 rows" in page
