# SPDX-License-Identifier: Apache-2.0
"""Sweeps in a folder: the program's files, going on after Ctrl-C; bifurcation diagrams in memory."""
import json
import os
import pathlib
import subprocess

import numpy
import pytest

import stickslip

PROGRAM = os.environ.get("STICKSLIP")
MODEL = """
[parameters]
k = 1.0
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [["k"]]
force = ["1.3*sin(t)"]
[[friction]]
on = "x"
limit = 0.2
[initial]
position = [1]
[run]
step = 0.01
end_time = 2
"""


@pytest.fixture
def case():
    return stickslip.parse(MODEL)


def test_a_folder_holds_what_the_program_writes(case, tmp_path):
    given = {"k": [1.0, 1.5, 2.0], "friction.0.limit": {"from": 0.1, "to": 0.3, "count": 4}}
    found = case.sweep(given, out=tmp_path / "s")
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["report.html", "summary.json", "sweep.csv", "sweep.h5"]
    assert found.resumed == 0 and json.loads((tmp_path / "s/summary.json").read_text()) == found.data
    memory = case.sweep(given)
    assert numpy.array_equal(memory.outputs, found.outputs) and memory.table().equals(found.table())
    if not PROGRAM:
        pytest.skip("STICKSLIP does not name the program")
    (tmp_path / "m.toml").write_text(MODEL)
    subprocess.run([PROGRAM, "sweep", "m.toml", "--over", "k=1,1.5,2", "--over", "friction.0.limit=0.1:0.3:4", "--out", "p"], cwd=tmp_path, check=True,
                   capture_output=True)
    assert (tmp_path / "p/sweep.csv").read_bytes() == (tmp_path / "s/sweep.csv").read_bytes()


def test_an_interrupted_sweep_goes_on(case, tmp_path):
    given = {"k": {"from": 1, "to": 3, "count": 3000}}

    def stop(done, runs):
        assert runs == 3000
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        case.sweep(given, out=tmp_path / "s", progress=stop)
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["sweep.journal"]
    with pytest.raises(stickslip.InputError, match="unfinished sweep"):
        case.sweep({"k": [1]}, out=tmp_path / "s")
    seen = []
    found = case.sweep(given, out=tmp_path / "s", progress=lambda done, runs: seen.append(done))
    assert found.resumed > 20 and found.ok and seen[0] >= found.resumed
    assert numpy.array_equal(found.outputs, case.sweep(given).outputs)
    assert case.sweep({"k": [1]}, out=tmp_path / "s", fresh=True).resumed == 0


def test_functions_of_python_begin_anew(tmp_path):
    case = stickslip.model(parameters={"k": 1.0}, matrices={"mass": [[1.0]], "stiffness": [["k"]], "force": [lambda t, q, v: 1.0]},
                           run={"scheme": "moreau", "step": 0.01, "end_time": 0.1})
    assert case.sweep({"k": [1, 2]}, out=tmp_path / "s").ok


def test_a_diagram_has_the_points_of_the_program(case, tmp_path):
    diagram = case.bifurcation(("k", 1.0, 2.0, 5), transient=10, record=10)
    assert diagram.ok and diagram.values == 5 and diagram.observed == "x" and len(diagram.table()) == diagram.points
    assert len(diagram.plot().axes) == 1
    again = case.bifurcation("k=1:2:5", transient=10, record=10)
    assert numpy.array_equal(diagram.up, again.up) and numpy.array_equal(diagram.down, again.down)
    if not PROGRAM:
        pytest.skip("STICKSLIP does not name the program")
    (tmp_path / "m.toml").write_text(MODEL)
    subprocess.run([PROGRAM, "bifurcation", "m.toml", "--over", "k=1:2:5", "--transient", "10", "--record", "10", "--out", "p"], cwd=tmp_path, check=True,
                   capture_output=True)
    rows = [line.split(",") for line in pathlib.Path(tmp_path / "p/bifurcation.csv").read_text().splitlines()[1:]]
    assert [float(row[2]) for row in rows] == [*diagram.up[1], *diagram.down[1]]
