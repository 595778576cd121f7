# SPDX-License-Identifier: Apache-2.0
"""Sweeps: plans, what is kept, failures, any number of threads and ranks, and going on after a kill."""
import csv
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import time

import h5py
import numpy
import pytest

from conftest import PROGRAM

MODEL = """
title = "Forced block"
[parameters]
k = 2.0
F = 1.5
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [["k"]]
force = ["F*sin(2*t)"]
[[friction]]
on = "x"
limit = 0.5
[initial]
position = [1]
[run]
scheme = "moreau"
step = 0.01
end_time = {end_time}
{tail}
"""


def model(stickslip, tail="", end_time=0.1):
    return stickslip.write("m.toml", MODEL.replace("{end_time}", str(end_time)).replace("{tail}", tail))


def rows(folder):
    with open(folder / "sweep.csv", newline="") as file:
        return list(csv.DictReader(file))


def column(folder, name):
    return [float(row[name]) for row in rows(folder)]


def contents(folder):
    """Everything in sweep.h5, as bytes."""
    found = {}
    with h5py.File(folder / "sweep.h5") as file:
        file.visititems(lambda name, item: found.__setitem__(name, item[()].tobytes()) if isinstance(item, h5py.Dataset) else None)
        found["attributes"] = sorted((name, str(value)) for name, value in file.attrs.items())
    return found


def test_a_grid_has_all_combinations_and_each_run_is_the_one_of_run(stickslip):
    model(stickslip, '[sweep]\nover = { "parameters.k" = [1, 4], "friction.0.limit" = { from = 0.1, to = 0.3, count = 3 } }')
    summary = stickslip.json("sweep", "m.toml")
    assert (summary["status"], summary["runs"], summary["succeeded"], summary["failed"]) == ("success", 6, 6, 0)
    folder = stickslip.folder / "m-sweep"
    found = rows(folder)
    assert [(float(r["parameters.k"]), float(r["friction.0.limit"])) for r in found] == [
        (1, 0.1), (1, 0.2), (1, 0.3), (4, 0.1), (4, 0.2), (4, 0.3)]
    one = stickslip.json("run", "m.toml", "--set", "parameters.k=4", "--set", "friction.0.limit=0.2", "--out", "one")
    assert float(found[4]["final.position.x"]) == one["final"]["position"][0]
    assert float(found[4]["steps"]) == one["steps"]
    with h5py.File(folder / "sweep.h5") as file:
        names = [name.decode() for name in file["output_names"]]
        assert file["outputs"][4, names.index("final.position.x")] == one["final"]["position"][0]
        assert file["swept"].shape == (6, 2) and list(file["status"]) == [0] * 6
    assert not (folder / "sweep.journal").exists()


def test_a_zip_joins_lists_and_refuses_unequal_ones(stickslip):
    model(stickslip, '[sweep]\nkind = "zip"\nover = { k = [1, 2, 3], F = [10, 20, 30] }')
    stickslip.json("sweep", "m.toml")
    assert column(stickslip.folder / "m-sweep", "F") == [10, 20, 30]
    wrong = stickslip("sweep", "m.toml", "--over", "F=1,2", "--out", "other")
    assert wrong.returncode == 2 and "'k' has 3 values and 'F' has 2" in wrong.stderr
    assert not (stickslip.folder / "other").exists()


def test_random_draws_follow_their_distributions_and_their_seed(stickslip):
    model(stickslip, '[sweep]\nkind = "random"\ncount = 400\nseed = 7\nkeep = ["steps"]\n'
          'over = { k = { normal = [5, 0.5] }, F = { from = 1, to = 100, spacing = "log" }, '
          '"friction.0.limit" = { lognormal = [2, 0.1], min = 1.9 } }', 0.02)
    stickslip.json("sweep", "m.toml")
    first = stickslip.folder / "m-sweep"
    k, force, limit = (column(first, name) for name in ("k", "F", "friction.0.limit"))
    # Four standard errors.
    assert abs(statistics.mean(k) - 5) < 4 * 0.5 / 20 and abs(statistics.stdev(k) - 0.5) < 4 * 0.5 / math.sqrt(800)
    assert abs(statistics.mean(map(math.log10, force)) - 1) < 4 / math.sqrt(12 * 400) * 2 and min(force) > 1 and max(force) < 100
    assert min(limit) >= 1.9 and max(limit) > 2.1
    # The first of more draws are the same; another seed has others.
    stickslip.json("sweep", "m.toml", "--set", "sweep.count=10", "--out", "few")
    assert column(stickslip.folder / "few", "k") == k[:10]
    stickslip.json("sweep", "m.toml", "--set", "sweep.count=10", "--set", "sweep.seed=8", "--out", "seed")
    assert column(stickslip.folder / "seed", "k") != k[:10]


def test_a_latin_hypercube_has_one_draw_in_each_part(stickslip):
    model(stickslip, '[sweep]\nkind = "latin"\ncount = 50\nover = { k = { from = 1, to = 2 }, F = { from = 0, to = 5 } }', 0.02)
    stickslip.json("sweep", "m.toml")
    folder = stickslip.folder / "m-sweep"
    k, force = column(folder, "k"), column(folder, "F")
    assert sorted(math.floor((x - 1) * 50) for x in k) == list(range(50))
    assert sorted(math.floor(x * 10) for x in force) == list(range(50))
    assert abs(numpy.corrcoef(k, force)[0, 1]) < 0.6


def test_seeds_are_whole_numbers_that_expressions_may_name(stickslip):
    model(stickslip, 'seed = 3\n[sweep]\nover = { seed = { random = 20 } }', 0.1)
    path = stickslip.folder / "m.toml"
    text = path.read_text().replace("seed = 3\n", "").replace('"F*sin(2*t)"', '"F*sin(2*t + seed)"')
    path.write_text("seed = 3\n" + text)
    stickslip.json("sweep", "m.toml")
    seeds, ends = (column(stickslip.folder / "m-sweep", name) for name in ("seed", "final.position.x"))
    assert len(set(seeds)) == 20 and all(x == int(x) >= 0 for x in seeds) and len(set(ends)) == 20
    one = stickslip.json("run", "m.toml", "--set", f"seed={int(seeds[3])}")
    assert one["final"]["position"][0] == ends[3]


def test_what_is_kept(stickslip):
    model(stickslip, '[sweep]\nover = { k = [1, 2] }\nkeep = ["maximum", "mean.x", "audit.energy", "events.slip"]', 3)
    stickslip.json("sweep", "m.toml")
    folder = stickslip.folder / "m-sweep"
    assert list(rows(folder)[0]) == ["run", "k", "status", "message", "maximum.x", "maximum.v_x", "maximum.r_friction1",
                                     "mean.x", "events.slip", "audit.energy"]
    stickslip.json("run", "m.toml", "--set", "parameters.k=2", "--out", "one")
    with open(stickslip.folder / "one" / "trajectory.csv", newline="") as file:
        points = [(float(r["t"]), float(r["x"])) for r in csv.DictReader(file)]
    assert column(folder, "maximum.x")[1] == max(x for _, x in points)
    mean = sum((a[1] + b[1]) / 2 * (b[0] - a[0]) for a, b in zip(points, points[1:])) / points[-1][0]
    assert abs(column(folder, "mean.x")[1] - mean) < 1e-12


def test_everything_keeps_trajectories(stickslip):
    model(stickslip, '[sweep]\nover = { k = [1, 2, 3] }\neverything = true', 0.5)
    stickslip.json("sweep", "m.toml")
    stickslip.json("run", "m.toml", "--set", "parameters.k=2", "--out", "one")
    with h5py.File(stickslip.folder / "m-sweep" / "sweep.h5") as file, open(stickslip.folder / "one" / "trajectory.csv", newline="") as text:
        stored = file["runs/000001/trajectory"]
        names = [name.decode() for name in stored.attrs["columns"]]
        expected = [[float(row[name]) for name in names] for row in csv.DictReader(text)]
        assert names == ["t", "x", "v_x", "r_friction1"] and numpy.array_equal(stored[()], expected)


def test_failed_runs_are_kept_with_their_message(stickslip):
    model(stickslip, '[sweep]\nover = { "run.step" = [0.01, -1, 0.02], k = [1, 2] }')
    summary = stickslip.json("sweep", "m.toml", code=1)
    assert (summary["status"], summary["done"], summary["failed"]) == ("failures", 6, 2)
    assert [f["run"] for f in summary["failures"]] == [2, 3] and summary["failures"][0]["values"] == {"run.step": -1.0, "k": 1.0}
    found = rows(stickslip.folder / "m-sweep")
    assert [r["status"] for r in found] == ["success", "success", "refused", "refused", "success", "success"]
    assert "run.step=-1" in found[2]["message"] and found[2]["final.position.x"] == "" and found[4]["final.position.x"] != ""


@pytest.mark.parametrize("arguments, words", [
    (["--over", "kk=1,2"], "did you mean 'k'?"),
    (["--over", "run.stpe=1,2"], "did you mean 'step'?"),
    (["--over", "friction.3.limit=1,2"], "the index 3 must lie in 0 .. 0"),
    (["--over", "k=1:2"], "a range has two ends and a whole number of values"),
    (["--over", "k"], "there is no KEY="),
    (["--set", "sweep.over.k=[]"], "the list is empty"),
    (["--set", "sweep.over.k={from=1,to=2}"], "give count"),
    (["--set", "sweep.over.k={from=1,to=2,count=0}"], "count"),
    (["--set", "sweep.over.k={normal=[1,2]}"], "this is drawn"),
    (["--set", "sweep.over.k={from=-1,to=2,count=3,spacing='log'}"], "needs ends > 0"),
    (["--over", "k=1,2", "--set", "sweep.kind=latin"], "needs the number of runs"),
    (["--over", "k=1,2", "--set", "sweep.kind=gird"], "did you mean 'grid'?"),
    (["--over", "k=1,2", "--set", "sweep.keep=['final.positon']"], "no result of run"),
    (["--over", "k=1,2", "--set", "sweep.analysis=shoot"], "there is no [shoot] table"),
    (["--over", "k=1:2:100000", "--over", "F=1:2:100000"], "1e+10 runs"),
    ([], "there is no [sweep] table"),
])
def test_mistakes_are_told_before_anything_runs(stickslip, arguments, words):
    model(stickslip)
    wrong = stickslip("sweep", "m.toml", *arguments)
    assert wrong.returncode == 2 and words in wrong.stderr, wrong.stderr
    assert stickslip.files() == ["m.toml"]


def test_other_analyses(stickslip, models):
    for name, analysis, over, output in [("forced-oscillator", "periodic", "run.end_time=1,2", "period"),
                                         ("puck-to-target", "shoot", "run.step=0.002,0.004", "residual"),
                                         ("belt-fit", "fit", "run.step=0.01,0.02", "rms")]:
        shutil.copytree(models, stickslip.folder / "models", dirs_exist_ok=True)
        path = f"models/{name}.toml"
        if "scheme = \"event\"" in (stickslip.folder / path).read_text():
            over = "run.tolerance=1e-7,1e-8"
        summary = stickslip.json("sweep", path, "--set", f"sweep.analysis={analysis}", "--over", over, "--out", name)
        assert (summary["analysis"], summary["succeeded"]) == (analysis, 2)
        single = stickslip.json(analysis, path, "--set", over.split(",")[0], "--out", name + "-single")
        assert column(stickslip.folder / name, output)[0] == single[output]


LONG = '[sweep]\nover = { k = { from = 1, to = 4, count = 50 }, "friction.0.limit" = { from = 0.1, to = 2, count = 30 } }\nkeep = ["final", "events", "audit"]\neverything = true'


def test_the_number_of_threads_changes_nothing(stickslip):
    model(stickslip, LONG.replace("50", "10"), 1)
    for threads in (1, 2, 5):
        stickslip.json("sweep", "m.toml", "--threads", threads, "--out", f"t{threads}")
    folders = [stickslip.folder / f"t{threads}" for threads in (1, 2, 5)]
    assert len({(folder / "sweep.csv").read_bytes() for folder in folders}) == 1
    assert contents(folders[0]) == contents(folders[1]) == contents(folders[2])


def family(pid):
    """The process and what it started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return [pid] + [member for child in children for member in family(child)]


def kill_while_it_grows(command, stickslip, journal, target, victims):
    """Starts it and kills (-9) some of its processes once the journal has so many bytes. True: it was still running."""
    process = subprocess.Popen(command(), cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=mpi_environment())
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > target):
        time.sleep(0.001)
    alive = process.poll() is None
    for pid in victims(family(process.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait(timeout=60)
    return alive


def mpi_environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")


def kill_and_go_on(stickslip, command, fractions, victims):
    model(stickslip, LONG, 4)
    stickslip.json("sweep", "m.toml", "--out", "whole")
    journal = stickslip.folder / "parts" / "sweep.journal"
    whole = contents(stickslip.folder / "whole")
    size = sum(len(value) for name, value in whole.items() if name.startswith("runs/"))
    kills = sum(kill_while_it_grows(command, stickslip, journal, fraction * size, victims) for fraction in fractions)
    last = subprocess.run(command(), cwd=stickslip.folder, capture_output=True, text=True, env=mpi_environment(),
                           timeout=120)
    assert last.returncode == 0, last.stderr
    assert kills >= 1 and "going on with the sweep" in last.stderr
    assert (stickslip.folder / "parts" / "sweep.csv").read_bytes() == (stickslip.folder / "whole" / "sweep.csv").read_bytes()
    assert contents(stickslip.folder / "parts") == whole
    assert not journal.exists()


def test_after_a_kill_the_same_command_goes_on_bit_for_bit(stickslip):
    kill_and_go_on(stickslip, lambda: [PROGRAM, "sweep", "m.toml", "--out", "parts"], [0.05, 0.1, 0.5],
                   lambda all_of_it: all_of_it)


def mpi():
    found = shutil.which("mpirun")
    if not found or "libmpi" not in subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout:
        pytest.skip("no MPI here, or the program was built without it")
    return found


def test_under_mpirun_all_ranks_work_and_the_result_is_the_same(stickslip):
    mpirun = mpi()
    model(stickslip, LONG, 1)
    stickslip.json("sweep", "m.toml", "--out", "alone")
    ranks = subprocess.run([mpirun, "-n", "3", PROGRAM, "sweep", "m.toml", "--out", "ranks", "--json"],
                           cwd=stickslip.folder, capture_output=True, text=True, env=mpi_environment(),
                           timeout=120)
    assert ranks.returncode == 0, ranks.stderr
    assert json.loads(ranks.stdout)["processes"] == 3
    assert (stickslip.folder / "ranks" / "sweep.csv").read_bytes() == (stickslip.folder / "alone" / "sweep.csv").read_bytes()
    assert contents(stickslip.folder / "ranks") == contents(stickslip.folder / "alone")
    wrong = subprocess.run([mpirun, "-n", "2", PROGRAM, "sweep", "m.toml", "--over", "kk=1,2"], cwd=stickslip.folder,
                           capture_output=True, text=True, env=mpi_environment(),
                           timeout=120)
    assert wrong.returncode == 2 and wrong.stderr.count("did you mean 'k'?") == 1


@pytest.mark.parametrize("victims", [lambda all_of_it: all_of_it, lambda all_of_it: all_of_it[-1:]], ids=["all", "one rank"])
def test_killed_ranks_lose_nothing_that_was_stored(stickslip, victims):
    mpirun = mpi()
    kill_and_go_on(stickslip, lambda: [mpirun, "-n", "2", PROGRAM, "sweep", "m.toml", "--out", "parts"], [0.1, 0.4], victims)


def test_a_signal_keeps_what_is_done(stickslip):
    model(stickslip, LONG.replace("50", "400").replace("everything = true", ""), 4)
    journal = stickslip.folder / "m-sweep" / "sweep.journal"
    process = subprocess.Popen([PROGRAM, "sweep", "m.toml", "--json"], cwd=stickslip.folder, stdout=subprocess.PIPE, text=True)
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > 20000):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate()
    summary = json.loads(out)
    assert process.returncode == 1 and summary["status"] == "interrupted" and 0 < summary["done"] < summary["runs"] == 12000
    states = [row["status"] for row in rows(stickslip.folder / "m-sweep")]
    assert states.count("success") == summary["done"] and states.count("pending") == 12000 - summary["done"]
    # Another model does not go on with it; --fresh drops it.
    other = stickslip("sweep", "m.toml", "--set", "parameters.F=1")
    assert other.returncode == 2 and "--fresh" in other.stderr
    fresh = stickslip.json("sweep", "m.toml", "--over", "k=1,2", "--fresh")
    assert fresh["runs"] == 60 and fresh["resumed"] == 0 and fresh["status"] == "success"


def test_monte_carlo_has_confidence_intervals_and_quantiles(stickslip):
    # x(end) of a block without spring and force: x = v^2/(2 limit), so that the draws of the limit are known.
    model(stickslip, '[sweep]\nover = { "friction.0.limit" = { normal = [1, 0.1] } }\nkeep = ["final.position"]', 3)
    text = (stickslip.folder / "m.toml").read_text()
    text = text.replace('stiffness = [["k"]]\n', "").replace('force = ["F*sin(2*t)"]\n', "").replace("position = [1]", "velocity = [2]")
    (stickslip.folder / "m.toml").write_text(text)
    summary = stickslip.json("montecarlo", "m.toml", "--count", 500, "--seed", 3)
    limits, ends = (column(stickslip.folder / "m-sweep", name) for name in ("friction.0.limit", "final.position.x"))
    assert len(ends) == 500 and max(abs(x - 2 / c) for x, c in zip(ends, limits)) < 1e-9
    output = summary["outputs"][0]
    half = 1.959964 * statistics.stdev(ends) / math.sqrt(500)
    assert abs(output["mean"] - statistics.mean(ends)) < 1e-12
    assert output["confidence"] == pytest.approx([statistics.mean(ends) - half, statistics.mean(ends) + half], rel=1e-12)
    assert output["quantiles"]["0.5"] == pytest.approx(statistics.median(ends), rel=1e-12)
    low, high = summary["success_interval"]
    assert low == pytest.approx(500 / (500 + 1.959964**2), rel=1e-9) and high == 1


def test_basins_of_a_block_between_two_rests(stickslip):
    # Two wells, (x^2 - 1)^2/4, with damping: starts end at -1 or 1, and by symmetry as often at either.
    stickslip.write("wells.toml", """
[equations]
coordinates = ["x"]
mass = [[1]]
potential = "(x^2 - 1)^2/4"
dissipation = "0.25*v_x^2"
[initial]
position = [0]
velocity = [0]
[run]
scheme = "moreau"
step = 0.02
end_time = 60
""")
    summary = stickslip.json("basin", "wells.toml", "--over", "initial.position.0=-1.9:1.9:10", "--over", "initial.velocity.0=-1:1:6",
                             "--resolution", 0.01)
    assert summary["succeeded"] == 60
    with open(stickslip.folder / "wells-sweep" / "basin.csv", newline="") as file:
        found = list(csv.DictReader(file))
    ends = column(stickslip.folder / "wells-sweep", "final.position.x")
    assert {row["attractor"] for row in found} == {"0", "1"}
    assert all((end > 0) == (ends[0] > 0) for end, row in zip(ends, found) if row["attractor"] == "0")
    assert [row["attractor"] for row in found].count("0") == 30
    for row, mirrored in zip(found, reversed(found)):
        assert row["attractor"] != mirrored["attractor"]


def test_a_bifurcation_diagram_shows_both_branches(stickslip):
    # Duffing's hardening spring under a harmonic force: between its folds the way up and the way down differ.
    stickslip.write("duffing.toml", """
[parameters]
omega = 1.0
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["-x - 0.5*x^3 - 0.1*v_x + 0.3*cos(omega*t)"]
[run]
scheme = "moreau"
step = 0.02
end_time = 10
[periodic]
period = "2*pi/omega"
""")
    summary = stickslip.json("bifurcation", "duffing.toml", "--over", "omega=1:2:21", "--transient", 30, "--record", 3, "--peaks")
    assert (summary["status"], summary["sampling"]) == ("success", "peaks")
    with open(stickslip.folder / "duffing-bifurcation" / "bifurcation.csv", newline="") as file:
        points = list(csv.DictReader(file))
    peak = {(p["direction"], round(float(p["omega"]), 3)): float(p["x"]) for p in points}
    assert {p["direction"] for p in points} == {"up", "down"}
    assert any(peak["up", w] > 1.5 * peak["down", w] for (d, w) in peak if d == "up" and ("down", w) in peak)
    assert peak["up", 2.0] == pytest.approx(peak["down", 2.0], rel=1e-2)
    strobe = stickslip.json("bifurcation", "duffing.toml", "--over", "omega=1:1.1:2", "--transient", 40, "--record", 5, "--out", "s")
    assert strobe["sampling"] == "period" and strobe["points"] == 2 * 2 * 5
    wrong = stickslip("bifurcation", "duffing.toml", "--over", "omga=1:2:3")
    assert wrong.returncode == 2 and "did you mean 'omega'?" in wrong.stderr
    wrong = stickslip("bifurcation", "duffing.toml", "--over", "omega=1:2:3", "--observe", "y")
    assert wrong.returncode == 2 and "no such column" in wrong.stderr


def test_a_number_that_is_swept_twice_is_refused(stickslip):
    stickslip.write("m.toml", "[parameters]\nk = 1\n[matrices]\nmass = [[1]]\nstiffness = [[\"k\"]]\n[run]\nstep = 0.1\nend_time = 1\n")
    twice = stickslip("sweep", "m.toml", "--over", "k=1,2", "--over", "parameters.k=3,4")
    assert twice.returncode == 2 and "swept twice" in twice.stderr
