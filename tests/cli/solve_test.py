# SPDX-License-Identifier: Apache-2.0
"""`stickslip solve`: FCLIB files written here with h5py, so that reader and writer are not checked against each other."""
import csv
import json
import os
import pty
import time

import h5py
import numpy
import pytest

from conftest import PROGRAM
from interrupt_test import read_terminal

H, G, MASS = 0.01, 9.81, 2.0


def put_matrix(group, name, dense, form):
    rows, columns = numpy.nonzero(dense)
    if form == "columns":
        order = numpy.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
    values = dense[rows, columns]
    m, n = dense.shape
    matrix = group.create_group(name)
    nz, p, i = {
        "triplets": (len(values), columns, rows),
        "columns": (-1, numpy.searchsorted(columns, numpy.arange(n + 1)), rows),
        "rows": (-2, numpy.searchsorted(rows, numpy.arange(m + 1)), columns),
    }[form]
    for key, value in (("m", m), ("n", n), ("nz", nz), ("nzmax", len(values))):
        matrix[key] = numpy.array([value], dtype="<i4")
    matrix["p"] = numpy.asarray(p, dtype="<i4")
    matrix["i"] = numpy.asarray(i, dtype="<i4")
    matrix["x"] = values


def block(path, angle=0.3, mu=0.5, form="rows"):
    """A point mass on an incline, local form: it slides if tan(angle) > mu."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        put_matrix(group, "W", numpy.eye(3) / MASS, form)
        group["vectors/q"] = H * G * numpy.array([-numpy.cos(angle), numpy.sin(angle), 0.0])
        group["vectors/mu"] = numpy.array([mu])
    return path


def two_blocks(path, form):
    """Global form, M v = H r + f with 2 masses on planes, the second sliding; H is not square."""
    H_matrix = numpy.zeros((7, 6))
    H_matrix[0:3, 0:3] = numpy.eye(3)
    H_matrix[4:7, 3:6] = numpy.eye(3)
    masses = numpy.array([1.0, 1.0, 1.0, 5.0, 2.0, 2.0, 2.0])
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        put_matrix(group, "M", numpy.diag(masses), form)
        put_matrix(group, "H", H_matrix, form)
        group["vectors/f"] = masses * H * G * numpy.array([-1, 0.1, 0, 0.5, -1, 0, 0.8])
        group["vectors/w"] = numpy.zeros(6)
        group["vectors/mu"] = numpy.array([0.3, 0.3])
    return path


@pytest.mark.parametrize("form", ["triplets", "columns", "rows"])
def test_one_problem_gives_the_documented_json_and_files(stickslip, form):
    block(stickslip.folder / "block.hdf5", form=form)
    result = stickslip.json("solve", "block.hdf5")
    assert result["status"] == "success" and result["solved"] == 1
    row, = result["problems"]
    for key in ["file", "contacts", "status", "solver", "error", "strict_error", "iterations", "seconds"]:
        assert key in row, key
    assert row["file"] == "block.hdf5" and row["contacts"] == 1 and row["status"] == "success"
    assert row["strict_error"] <= 1e-8 and row["error"] <= row["strict_error"] and row["seconds"] >= 0
    assert sorted(p.name for p in (stickslip.folder / "block").iterdir()) == ["problems.csv", "report.html", "summary.json"]
    assert json.loads((stickslip.folder / "block/summary.json").read_text()) == result


@pytest.mark.parametrize("form", ["triplets", "columns", "rows"])
def test_the_solution_of_a_global_problem_is_the_known_motion(stickslip, form):
    source = two_blocks(stickslip.folder / "two.hdf5", form)
    before = source.read_bytes()
    stickslip.json("solve", "two.hdf5", "--tolerance", "1e-13", "--write-solution", "copy", "--out", "r")
    assert source.read_bytes() == before
    with h5py.File(stickslip.folder / "r/two.hdf5") as file:
        assert "fclib_global/M" in file
        v, u, r = (file["solution/" + name][:] for name in "vur")
    # First mass: 0.1 < 0.3, it sticks. The coordinate without contact moves freely. Second: 0.8 > 0.3, it slides.
    expected = H * G * numpy.array([0, 0, 0, 0.5, 0, 0, 0.5])
    assert numpy.allclose(v, expected, rtol=0, atol=1e-12)
    assert numpy.allclose(u, expected[[0, 1, 2, 4, 5, 6]], rtol=0, atol=1e-12)
    assert numpy.allclose(r, H * G * numpy.array([1, -0.1, 0, 2, 0, -0.6]), rtol=0, atol=1e-12)


def test_a_stored_solution_in_the_file_itself_is_replaced_and_can_start_the_next_solve(stickslip):
    path = block(stickslip.folder / "block.hdf5")
    refused = stickslip("solve", "block.hdf5", "--start", "solution")
    assert refused.returncode == 2 and "no /solution" in refused.stderr
    for _ in range(2):
        stickslip.json("solve", "block.hdf5", "--write-solution", "file")
        with h5py.File(path) as file:
            assert file["solution/r"][0] == pytest.approx(MASS * H * G * numpy.cos(0.3), rel=1e-7)
            assert "v" not in file["solution"] and "fclib_local/W/x" in file
    again = stickslip.json("solve", "block.hdf5", "--start", "solution")
    assert again["status"] == "success"


def test_the_local_form_of_a_global_problem_can_be_written_and_is_the_same_problem(stickslip):
    two_blocks(stickslip.folder / "two.hdf5", "rows")
    stickslip.json("solve", "two.hdf5", "--write-local", "--out", "r")
    with h5py.File(stickslip.folder / "r/two-local.hdf5") as file:
        group = file["fclib_local"]
        assert group["W/nz"][0] == -2 and group["W/m"][0] == 6
        assert numpy.allclose(group["vectors/q"][:], H * G * numpy.array([-1, 0.1, 0, -1, 0, 0.8]))
    assert stickslip.json("solve", "r/two-local.hdf5")["problems"][0]["form"] == "local"


def test_many_files_and_folders_make_one_table_with_a_profile_over_time(stickslip):
    folder = stickslip.folder / "set"
    folder.mkdir()
    for k in range(5):
        block(folder / f"b{k}.hdf5", angle=0.1 + 0.2 * k)
    block(stickslip.folder / "other.h5")
    result = stickslip("solve", "set", "other.h5")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["file", "contacts", "status", "solver", "error", "strict_error", "iterations", "seconds"]
    assert [line.split()[0] for line in lines[1:7]] == ["b0", "b1", "b2", "b3", "b4", "other"]
    assert "solved: 6 of 6" in lines[7]
    summary = json.loads((stickslip.folder / "solve/summary.json").read_text())
    profile, = summary["profiles"]
    assert profile["fraction"][-1] == 1.0 and profile["x"] == sorted(profile["x"])
    rows = list(csv.DictReader(open(stickslip.folder / "solve/problems.csv")))
    assert len(rows) == 6 and float(rows[0]["strict_error"]) <= 1e-8


def test_comparing_solvers_gives_a_profile_per_solver_with_the_fastest_at_one(stickslip):
    for k in range(4):
        block(stickslip.folder / f"b{k}.hdf5", angle=0.1 + 0.2 * k)
    result = stickslip.json("solve", *(f"b{k}.hdf5" for k in range(4)), "--compare", "default,gauss_seidel")
    assert [row["solver"] for row in result["problems"]] == ["default", "gauss_seidel"] * 4
    assert [profile["solver"] for profile in result["profiles"]] == ["default", "gauss_seidel"]
    at_one = sum(dict(zip(p["x"], p["fraction"])).get(1.0, 0) for p in result["profiles"])
    assert at_one >= 1.0  # on every problem somebody is the fastest
    for profile in result["profiles"]:
        assert min(profile["x"]) >= 1.0 and profile["fraction"][-1] == 1.0
    every = stickslip.json("solve", "b0.hdf5", "--compare", "all", "--out", "all")
    assert len({row["solver"] for row in every["problems"]}) >= 4


def test_what_is_not_solved_ends_with_1_and_is_in_the_table(stickslip):
    # Two opposite contacts squeeze a body: no solution exists.
    with h5py.File(stickslip.folder / "squeeze.hdf5", "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        body = numpy.hstack([numpy.eye(3), numpy.diag([-1.0, 1.0, -1.0])])
        put_matrix(group, "W", body.T @ body, "rows")
        group["vectors/q"] = numpy.array([-1.0, 0, 0, -1.0, 0, 0])
        group["vectors/mu"] = numpy.array([0.5, 0.5])
    block(stickslip.folder / "block.hdf5")
    result = stickslip("solve", "squeeze.hdf5", "block.hdf5", "--max-seconds", "2", "--json")
    assert result.returncode == 1
    summary = json.loads(result.stdout)
    assert summary["solved"] == 1 and summary["status"] != "success"
    assert summary["problems"][0]["status"] != "success" and summary["problems"][0]["message"]
    assert summary["problems"][0]["strict_error"] > 1e-2  # the division by |r| alone would call it solved
    assert summary["problems"][1]["status"] == "success"


def test_one_bad_file_among_good_ones_ends_with_2_and_the_others_are_solved(stickslip):
    block(stickslip.folder / "good.hdf5")
    stickslip.write("bad.hdf5", "no HDF5")
    result = stickslip("solve", "bad.hdf5", "good.hdf5", "--json")
    assert result.returncode == 2
    assert "bad.hdf5" in result.stderr and "not an HDF5 file" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["solved"] == 1 and summary["unread"][0]["file"] == "bad.hdf5"


def change(path, name, value):
    with h5py.File(path, "r+") as file:
        del file[name]
        if value is not None:
            file[name] = value


L = "fclib_local/"
GLOBAL = "fclib_global/"


@pytest.mark.parametrize("name, value, words", [
    (L + "spacedim", numpy.array([4], dtype="<i4"), ["spacedim", "4", "2 or 3"]),
    (L + "spacedim", None, ["spacedim", "missing"]),
    (L + "spacedim", numpy.array([3.0]), ["spacedim", "integers"]),
    (L + "W", None, ["/fclib_local/W", "missing"]),
    (L + "W/x", None, ["W/x", "missing"]),
    (L + "W/x", numpy.array([1.0]), ["W/p", "at most 1", "length of i and x"]),
    (L + "W/x", numpy.array([1.0, numpy.nan, 1.0]), ["W", "row 1", "nan"]),
    (L + "W/i", numpy.array([0, 1, 3], dtype="<i4"), ["W/i", "entry 2 is 3", "0..2"]),
    (L + "W/i", numpy.array([0, -1, 2], dtype="<i4"), ["W/i", "entry 1 is -1"]),
    (L + "W/p", numpy.array([0, 2, 1, 3], dtype="<i4"), ["W/p", "entry 2"]),
    (L + "W/p", numpy.array([0, 1, 2, 3, 3], dtype="<i4"), ["W/p", "5 entries"]),
    (L + "W/nz", numpy.array([-3], dtype="<i4"), ["W/nz", "-3", "compressed rows"]),
    (L + "W/nz", numpy.array([9], dtype="<i4"), ["W/nz", "9 triplets"]),
    (L + "W/m", numpy.array([6], dtype="<i4"), ["W/m", "6 rows"]),
    (L + "W/n", numpy.array([2 ** 31 - 1], dtype="<i4"), ["W/n", "2147483647 columns"]),
    (L + "vectors/q", numpy.zeros(4), ["W/m", "4 entries"]),
    (L + "vectors/q", numpy.array([0, numpy.inf, 0]), ["q", "inf"]),
    (L + "vectors/q", "text", ["q", "numbers"]),
    (L + "vectors/mu", numpy.array([-0.1]), ["mu", "-0.1", ">= 0"]),
    (L + "vectors/mu", numpy.array([numpy.nan]), ["mu", "nan"]),
    (L + "vectors/mu", numpy.array([0.1, 0.2]), ["mu", "2 entries", "1"]),
    (L + "vectors/mu", None, ["mu", "missing"]),
])
def test_a_wrong_local_file_ends_with_2_names_the_dataset_and_leaves_nothing(stickslip, name, value, words):
    path = block(stickslip.folder / "block.hdf5")
    change(path, name, value)
    result = stickslip("solve", "block.hdf5", timeout=20)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr.startswith("stickslip: block.hdf5: ")
    for word in words:
        assert word in result.stderr, result.stderr
    assert stickslip.files() == ["block.hdf5"]


@pytest.mark.parametrize("name, value, words", [
    (GLOBAL + "M", None, ["/fclib_global/M", "missing"]),
    (GLOBAL + "H/i", numpy.array([0, 1, 2, 4, 5, 7], dtype="<i4"), ["H/i", "is 7"]),
    (GLOBAL + "vectors/f", numpy.zeros(6), ["M/m", "6 entries"]),
    (GLOBAL + "M/x", numpy.array([1, 1, 1, 0, 1, 1, 1.0]), ["M", "singular"]),
])
def test_a_wrong_global_file_ends_with_2_and_names_the_dataset(stickslip, name, value, words):
    path = two_blocks(stickslip.folder / "two.hdf5", "columns" if name != GLOBAL + "M/x" else "rows")
    change(path, name, value)
    result = stickslip("solve", "two.hdf5", timeout=20)
    assert result.returncode == 2, result.stdout + result.stderr
    for word in ["two.hdf5", *words]:
        assert word in result.stderr, result.stderr


def test_sizes_that_the_file_does_not_back_cost_neither_time_nor_memory(stickslip):
    path = block(stickslip.folder / "block.hdf5")
    with h5py.File(path, "r+") as file:
        del file[L + "vectors/q"]
        file.create_dataset(L + "vectors/q", shape=(2_000_000_000,), dtype="<f8", chunks=(1_000_000,))
    start = time.time()
    result = stickslip("solve", "block.hdf5", timeout=20)
    assert result.returncode == 2 and "never written" in result.stderr
    with h5py.File(path, "r+") as file:
        del file[L + "vectors/q"]
        data = file.create_dataset(L + "vectors/q", shape=(2_000_000_000,), dtype="<f8", chunks=(1_000_000,), compression="gzip")
        data[:10] = 1
    result = stickslip("solve", "block.hdf5", timeout=20)
    assert result.returncode == 2 and "stores only" in result.stderr
    assert time.time() - start < 10


@pytest.mark.parametrize("arguments, words", [
    (["solve"], "PROBLEM"),
    (["solve", "absent.hdf5"], "absent.hdf5: no such file"),
    (["solve", "."], "no .hdf5"),
    (["solve", "/dev/null"], "not a regular file"),
    (["solve", "good.h5x", "--solver", "gaus_seidel"], "did you mean 'gauss_seidel'"),
    (["solve", "good.h5x", "--compare", ","], "names no solver"),
    (["solve", "good.h5x", "--tolerance", "0"], "tolerance"),
    (["solve", "good.h5x", "--tolerance", "nan"], "tolerance"),
    (["solve", "good.h5x", "--max-seconds", "-1"], "max-seconds"),
    (["solve", "good.h5x", "--start", "there"], "start"),
    (["solve", "good.h5x", "--write-solution", "cpoy"], "did you mean 'copy'"),
    (["solve", "good.h5x", "--write-solution", "copy", "--out", "."], "would replace it"),
    (["solve", "good.h5x", "--tolerance", "inf"], "finite number above 0"),
])
def test_a_wrong_call_ends_with_2_and_names_what_is_wrong(stickslip, arguments, words):
    block(stickslip.folder / "good.h5x")  # a name that a folder argument does not take
    result = stickslip(*arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert words in result.stderr, result.stderr
    assert stickslip.files() == ["good.h5x"]


def chain(path, n):
    """n blocks in a row, each pushed against the next one: as large as wanted."""
    k = numpy.arange(n)
    rows = numpy.concatenate([k, k[:-1], k[1:]])
    columns = numpy.concatenate([k, k[1:], k[:-1]])
    values = numpy.concatenate([numpy.full(n, 2.0), numpy.full(2 * (n - 1), -1.0)])
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        matrix = group.create_group("W")
        for key, value in (("m", 3 * n), ("n", 3 * n), ("nz", 3 * len(values)), ("nzmax", 3 * len(values))):
            matrix[key] = numpy.array([value], dtype="<i4")
        matrix["i"] = numpy.concatenate([3 * rows + c for c in range(3)]).astype("<i4")
        matrix["p"] = numpy.concatenate([3 * columns + c for c in range(3)]).astype("<i4")
        matrix["x"] = numpy.tile(values, 3)
        q = numpy.zeros(3 * n)
        q[0::3] = -1 - numpy.sin(k)
        q[1::3] = numpy.sin(3 * k)
        group["vectors/q"] = q
        group["vectors/mu"] = 0.3 + 0.2 * numpy.cos(k)


def test_ctrl_c_stops_at_once_and_keeps_what_was_solved(stickslip):
    chain(stickslip.folder / "slow.hdf5", 60000)
    for k in range(3):
        block(stickslip.folder / f"a{k}.hdf5")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(stickslip.folder)
        # A tolerance below round-off: the solver uses all its time.
        os.execv(PROGRAM, [PROGRAM, "solve", "a0.hdf5", "a1.hdf5", "a2.hdf5", "slow.hdf5", "--tolerance", "1e-19"])
    before = read_terminal(terminal, 4.0)
    assert "a2 " in before and "solving [" in before, before
    pressed = time.time()
    os.write(terminal, b"\x03")
    after = read_terminal(terminal, 20)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1, status
    assert "interrupted" in after
    assert time.time() - pressed < 15
    summary = json.loads((stickslip.folder / "solve/summary.json").read_text())
    assert summary["status"] == "interrupted"
    assert [row["file"] for row in summary["problems"]] == ["a0.hdf5", "a1.hdf5", "a2.hdf5", "slow.hdf5"]
    assert summary["problems"][0]["strict_error"] < 1e-12 and summary["problems"][3]["status"] == "interrupted"
    assert (stickslip.folder / "solve/report.html").exists()


def scaled_block(path, mobility, velocity):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        put_matrix(group, "W", mobility * numpy.eye(3) / MASS, "rows")
        group["vectors/q"] = velocity * H * G * numpy.array([-numpy.cos(0.6), numpy.sin(0.6), 0.0])
        group["vectors/mu"] = numpy.array([0.5])
    return path


@pytest.mark.parametrize("mobility", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize("velocity", [1e-150, 1.0, 1e150])
def test_the_same_problem_in_other_units_is_solved_the_same(stickslip, mobility, velocity):
    path = scaled_block(stickslip.folder / "scaled.hdf5", mobility, velocity)
    row, = stickslip.json("solve", "scaled.hdf5", "--write-solution", "file")["problems"]
    assert row["status"] == "success" and row["unit_free"] <= 1e-8
    with h5py.File(path) as file:
        u = file["solution/u"][:] / (velocity * H * G)
    assert numpy.allclose(u, [0, numpy.sin(0.6) - 0.5 * numpy.cos(0.6), 0], rtol=0, atol=1e-7)


def test_reactions_near_the_largest_number_are_judged(stickslip):
    scaled_block(stickslip.folder / "scaled.hdf5", 1e-154, 1e154)
    row, = stickslip.json("solve", "scaled.hdf5")["problems"]
    assert row["status"] == "success" and row["unit_free"] <= 1e-8


def test_without_mobility_there_is_an_answer_at_once(stickslip):
    path = scaled_block(stickslip.folder / "zero.hdf5", 1.0, 1.0)
    with h5py.File(path, "r+") as file:
        file["fclib_local/W/x"][:] = 0.0
    result = stickslip("solve", "zero.hdf5", "--json")
    row, = json.loads(result.stdout)["problems"]
    assert result.returncode == 1 and row["status"] == "no solution" and row["iterations"] == 0


def test_a_file_named_twice_is_solved_once(stickslip):
    folder = stickslip.folder / "fc"
    folder.mkdir()
    block(folder / "one.hdf5")
    os.symlink("fc/one.hdf5", stickslip.folder / "link.hdf5")
    result = stickslip.json("solve", "fc/one.hdf5", "fc/one.hdf5", "./fc/../fc/one.hdf5", "fc", "link.hdf5", "--compare", "default,gauss_seidel")
    assert result["status"] == "success" and result["files"] == 1 and len(result["problems"]) == 2
    assert all(max(profile["fraction"]) == 1 for profile in result["profiles"])


def test_two_files_of_one_name_have_no_copies(stickslip):
    for folder in ("a", "b"):
        (stickslip.folder / folder).mkdir()
        block(stickslip.folder / folder / "one.hdf5")
    result = stickslip("solve", "a/one.hdf5", "b/one.hdf5", "--write-solution", "copy")
    assert result.returncode == 2 and "two files have this name" in result.stderr
    assert stickslip.json("solve", "a", "b")["solved"] == 2


@pytest.mark.parametrize("spread", [100, 140, 300])
def test_contacts_that_are_not_coupled_may_be_of_any_size(stickslip, spread):
    sizes = 10.0 ** numpy.linspace(-spread, spread, 4)
    with h5py.File(stickslip.folder / "spread.hdf5", "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        put_matrix(group, "W", numpy.diag(numpy.repeat(sizes, 3)), "rows")
        group["vectors/q"] = numpy.tile([-1.0, 0.3, 0.1], 4)
        group["vectors/mu"] = numpy.full(4, 0.4)
    row, = stickslip.json("solve", "spread.hdf5", "--write-solution", "file")["problems"]
    assert row["status"] == "success"
    with h5py.File(stickslip.folder / "spread.hdf5") as file:
        r = file["solution/r"][:].reshape(4, 3) * sizes[:, None]
    assert numpy.allclose(r, [1.0, -0.3, -0.1], rtol=1e-10)  # all stick


def test_results_of_a_run_do_not_stay_beside_those_of_another_command(stickslip, models):
    block(stickslip.folder / "block.hdf5")
    assert stickslip("run", models / "two-masses.toml", "--out", "r").returncode == 0
    assert stickslip("solve", "block.hdf5", "--out", "r").returncode == 0
    assert sorted(p.name for p in (stickslip.folder / "r").iterdir()) == ["problems.csv", "report.html", "summary.json"]
    assert stickslip("run", models / "two-masses.toml", "--out", "r").returncode == 0
    assert sorted(p.name for p in (stickslip.folder / "r").iterdir()) == ["events.csv", "report.html", "result.h5", "summary.json", "trajectory.csv"]
    compare = ["compare", models / "two-masses.toml", "--schemes", "splitting", "--steps", "0.02,0.01", "--out", "r"]
    assert stickslip(*compare).returncode == 0
    assert sorted(p.name for p in (stickslip.folder / "r").iterdir()) == ["report.html", "summary.json"]


def test_a_problem_in_the_folder_of_results_stays(stickslip):
    folder = stickslip.folder / "r"
    folder.mkdir()
    block(folder / "result.h5")
    assert stickslip("solve", "r/result.h5", "--out", "r").returncode == 0
    assert (folder / "result.h5").exists()
