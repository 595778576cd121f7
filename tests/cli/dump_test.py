# SPDX-License-Identifier: Apache-2.0
"""`stickslip dump`: contact problems of steps as FCLIB files, read with h5py and solved alone to the impulses of the run."""
import h5py
import numpy
import pytest

BALLS = """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "ball"
count = 3
mass = 0.5
position_0 = ["0.101*i", "0", "0.05"]
velocity_0 = ["0.3", "0", "0"]
[[shape]]
body = "ball"
kind = "sphere"
radius = 0.05
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "touch"
between = ["*", "*"]
mu = 0.4
[run]
scheme = "moreau"
step = 0.002
end_time = 0.2
"""

def matrix(group):
    rows, columns = int(group["m"][0]), int(group["n"][0])
    dense = numpy.zeros((rows, columns))
    assert int(group["nz"][0]) == -2
    starts, indices, values = group["p"][:], group["i"][:], group["x"][:]
    for row in range(rows):
        for k in range(starts[row], starts[row + 1]):
            dense[row, indices[k]] += values[k]
    return dense


def test_steps_of_one_run_are_solved_alone_to_the_same_impulses(stickslip):
    stickslip.write("balls.toml", BALLS)
    answer = stickslip.json("dump", "balls.toml", "--at", "0.002,0.1", "--at", "0.2")
    assert answer["status"] == "success"
    assert [step["time"] for step in answer["steps"]] == [0.002, 0.1, 0.2]
    assert [step["end"] for step in answer["steps"]] == [0.002, 0.1, 0.2]
    for step in answer["steps"]:
        assert step["contacts"] == 3 and step["dimension"] == 3
        with h5py.File(stickslip.folder / step["file"]) as file:
            problem, stored = file["fclib_global"], file["solution"]
            M, H = matrix(problem["M"]), matrix(problem["H"])
            f, w, v, r, u = (x[:] for x in (problem["vectors/f"], problem["vectors/w"], stored["v"], stored["r"], stored["u"]))
        assert M.shape == (18, 18) and H.shape == (18, 9)
        assert numpy.abs(M @ v - H @ r - f).max() <= 1e-12 * numpy.abs(f).max()
        assert numpy.abs(H.T @ v + w - u).max() <= 1e-12
        # Each ball is carried by the plane: m g h along the normal.
        assert r[::3] == pytest.approx(0.5 * 9.81 * 0.002, rel=1e-9)
    solved = stickslip.json("solve", "balls-dump", "--tolerance", "1e-12", "--write-solution", "copy", "--out", "again")
    assert solved["solved"] == 3
    for step in answer["steps"]:
        name = step["file"].split("/")[-1]
        with h5py.File(stickslip.folder / step["file"]) as run, h5py.File(stickslip.folder / "again" / name) as alone:
            size = numpy.abs(run["solution/r"][:]).max()
            assert numpy.abs(run["solution/r"][:] - alone["solution/r"][:]).max() <= 1e-9 * size
            assert numpy.abs(run["solution/v"][:] - alone["solution/v"][:]).max() <= 1e-9


ROD = """
[equations]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = ["0", "-9.81", "-9.81"]
[[constraint]]
name = "rod"
position = "y - z"
[[contact]]
name = "floor"
gap = "y"
slip = ["x"]
mu = 0.5
[initial]
position = [0, 0, 0]
velocity = [1, 0, 0]
[run]
scheme = "moreau"
step = 0.01
end_time = 0.1
"""


def test_constraints_are_bilateral_reactions(stickslip):
    """Two masses on a rod stand on a floor: it carries both, the rod one of them."""
    stickslip.write("rod.toml", ROD)
    answer = stickslip.json("dump", "rod.toml", "--at", 0.05)
    assert answer["steps"][0]["dimension"] == 2
    file = answer["steps"][0]["file"]
    assert stickslip.json("solve", file, "--write-solution", "copy", "--out", "again")["solved"] == 1
    for name in (file, "again/" + file.split("/")[-1]):
        with h5py.File(stickslip.folder / name) as stored:
            assert stored["solution/r"][:] == pytest.approx(0.01 * 9.81 * numpy.array([2.0, -1.0]), rel=1e-9)
            assert abs(stored["solution/l"][0]) == pytest.approx(0.01 * 9.81, rel=1e-9)


def test_a_step_without_contact_names_one_with_contact(stickslip, models):
    result = stickslip("dump", models / "woodpecker.toml", "--at", "0.12,0.2")
    assert result.returncode == 2
    assert "no contact takes part" in result.stderr
    time = result.stderr.split("--at ")[-1].split()[0]
    assert stickslip("dump", models / "woodpecker.toml", "--at", time).returncode == 0
    names = sorted(path.name for path in (stickslip.folder / "woodpecker-dump").glob("*.hdf5"))
    assert names == sorted([f"woodpecker-t{time}.hdf5", "woodpecker-t0.2.hdf5"])  # that of the first call is kept
    result = stickslip("dump", models / "bouncing-ball.toml", "--at", 0.1)
    assert result.returncode == 2 and "choose a later time" in result.stderr
    assert not (stickslip.folder / "bouncing-ball-dump").exists()


@pytest.mark.parametrize("arguments, words", [
    (["--at", "0.3"], ["--at 0.3", "run.end_time = 0.2"]),
    (["--at", "-1"], ["--at -1", "run.start_time"]),
    (["--at", "nan"], ["--at nan"]),
    (["--at", "soon"], ["soon"]),
    ([], ["--at is required"]),
    (["--at", "0.1", "--set", "contact.touch.cone=box"], ["corners", "cone"]),
])
def test_wrong_calls(stickslip, arguments, words):
    stickslip.write("balls.toml", BALLS)
    result = stickslip("dump", "balls.toml", *arguments)
    assert result.returncode == 2, result.stderr
    for word in words:
        assert word in result.stderr
    assert not (stickslip.folder / "balls-dump").exists()


def test_other_schemes_and_models_without_contacts(stickslip, models):
    result = stickslip("dump", models / "robot-foot.toml", "--at", 0.1)
    assert result.returncode == 2
    assert "robot-foot.toml" in result.stderr and "--set run.scheme=moreau" in result.stderr
    result = stickslip("dump", models / "two-masses.toml", "--at", 0.1)
    assert result.returncode == 2 and "no contacts" in result.stderr


def test_a_step_that_cannot_be_solved_is_kept(stickslip):
    """A ball squeezed between plates that close: no reactions hold it, and the problem can be looked at."""
    stickslip.write("plates.toml", """
[equations]
coordinates = ["x"]
mass = [["1"]]
force = ["0"]
[[contact]]
name = "below"
gap = "x"
[[contact]]
name = "above"
gap = "0.01 - x - 0.1*t"
[initial]
position = [0.005]
velocity = [0]
[run]
scheme = "moreau"
step = 0.01
end_time = 0.2
""")
    result = stickslip("dump", "plates.toml", "--at", "0.15")
    assert result.returncode == 1 and "t = 0.15 s was not reached" in result.stderr
    time = result.stderr.split("--at ")[-1].split()[0]
    answer = stickslip.json("dump", "plates.toml", "--at", time, code=1)
    assert not answer["steps"][0]["solved"] and answer["steps"][0]["contacts"] == 2
    assert stickslip.json("solve", answer["steps"][0]["file"], code=1)["problems"][0]["status"] == "no solution"
