# SPDX-License-Identifier: Apache-2.0
"""A disk that is full at any moment of any command: one message with file, cause and remedy, exit code 1, what was found is told, no
file that looks whole and is not, and the command works again with room."""
import csv
import json
import shutil
import subprocess

import h5py
import pytest

from conftest import PROGRAM

MODEL = """
title = "A block on a moving table"
[parameters]
omega = 1.0
c = 0.3
v0 = 1.0
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["-x - 0.1*v_x + cos(omega*t)"]
[[friction]]
name = "table"
on = "x"
limit = "c"
[initial]
velocity = ["v0"]
[run]
step = 0.01
end_time = 6
[periodic]
period = "2*pi/omega"
harmonics = 9
[shoot]
end_time = 2
unknowns = [{ name = "v0", key = "parameters.v0", start = 1.0 }]
conditions = ["x - 0.5"]
[fit]
unknowns = [{ name = "c", key = "parameters.c", min = 0 }]
data = "data.csv"
"""
COMMANDS = {
    "run": ["run", "m.toml"],
    "shoot": ["shoot", "m.toml"],
    "fit": ["fit", "m.toml"],
    "periodic": ["periodic", "m.toml"],
    "branch": ["periodic", "m.toml", "--continue", "omega=1.5:1.9"],
    "sweep": ["sweep", "m.toml", "--over", "omega=0.5:1:20", "--over", "c=0.1:0.5:20", "--set", "run.end_time=1"],
    "everything": ["sweep", "m.toml", "--over", "omega=0.5:1:20", "--set", "sweep.everything=true"],
    "basin": ["basin", "m.toml", "--over", "initial.position.0=-1:1:8", "--over", "v0=-1:1:8", "--set", "run.end_time=2"],
    "bifurcation": ["bifurcation", "m.toml", "--over", "omega=0.8:1.2:12", "--transient", "2", "--record", "4"],
    "compare": ["compare", "m.toml", "--schemes", "moreau", "--steps", "0.04,0.02,0.01"],
}
ROOMS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.97)  # of what the files take


def mount_possible():
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not shutil.which("unshare") or not mount_possible(), reason="no file systems of one's own can be mounted here")


def in_room(stickslip, pages, *arguments, before=None):
    """The command with so many pages (4 KiB) for its results in r/; what it left is in left/r."""
    left = stickslip.folder / "left"
    shutil.rmtree(left, ignore_errors=True)
    (stickslip.folder / "r").mkdir(exist_ok=True)
    script = ('mount -t tmpfs -o size=$1 tmpfs r && { [ -z "$2" ] || cp -a "$2/." r/; }; shift 2; "$@"; code=$?; cp -a r left; exit $code')
    left.mkdir()
    return subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(4096 * pages), str(before or ""), PROGRAM, *arguments], cwd=stickslip.folder,
                          capture_output=True, text=True, timeout=300)


def complete(path):
    """Whether a file is what its name says, to the end."""
    if path.suffix == ".json":
        json.loads(path.read_text())
    elif path.suffix == ".html":
        assert path.read_text().rstrip().endswith("</html>")
    elif path.suffix == ".csv":
        text = path.read_text()
        assert text.endswith("\n") and len({len(row) for row in csv.reader(text.splitlines())}) == 1
    elif path.suffix == ".h5":
        with h5py.File(path, "r", libver="latest", swmr=path.name != "sweep.h5") as file:
            file.visititems(lambda name, item: item[()] if isinstance(item, h5py.Dataset) else None)
    else:
        assert path.name == "sweep.journal", path.name


@pytest.fixture
def model(stickslip):
    stickslip.write("m.toml", MODEL)
    stickslip.write("data.csv", "t,x\n" + "".join(f"{0.1 * k},{0.3 * k * 0.1}\n" for k in range(1, 20)))
    return stickslip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told_and_leaves_nothing_that_looks_whole(model, name):
    command = COMMANDS[name]
    whole = model(*command, "--out", "whole")
    assert whole.returncode in (0, 1), whole.stderr
    pages = sum(-(-path.stat().st_size // 4096) for path in (model.folder / "whole").iterdir())
    told = set()
    for share in ROOMS:
        result = in_room(model, max(1, int(share * pages)), *command, "--out", "r", "--json")
        lines = [line for line in result.stderr.splitlines() if "note:" not in line]
        assert result.returncode == 1 and len(lines) == 1, (share, result.returncode, result.stderr)
        assert lines[0].startswith("stickslip: r") and "No space left on device" in lines[0] and "make room" in lines[0], (share, lines)
        told.add(lines[0].split(":")[1])
        for path in (model.folder / "left/r").iterdir():
            assert path.suffix != ".part", (share, path.name)
            complete(path)
        assert not (model.folder / "left/r/summary.json").exists(), "summary.json is written last"
        if result.stdout:
            answer = json.loads(result.stdout)
            if name in ("shoot", "fit"):
                assert answer["unknowns"] and answer["status"] == "interrupted" and "make room" in answer["message"]
    assert len(told) > 1 or name == "compare", "it ran full in different files (compare has one besides the summary)"
    # With room it works, beginning anew or with what is stored.
    again = in_room(model, 4 * pages + 64, *command, "--out", "r", "--json")
    assert again.returncode == whole.returncode, again.stderr
    assert sorted(p.name for p in (model.folder / "left/r").iterdir()) == sorted(p.name for p in (model.folder / "whole").iterdir())


@pytest.mark.parametrize("name", ["shoot", "fit", "periodic"])
def test_what_was_found_is_told_where_it_cannot_be_stored(model, name):
    found = model.json(*COMMANDS[name], "--out", "whole")
    told = json.loads(in_room(model, 1, *COMMANDS[name], "--out", "r", "--json").stdout)
    keys = {"shoot": ("unknowns", "residual"), "fit": ("unknowns", "standard_errors"), "periodic": ("period", "amplitude")}[name]
    assert [told[key] for key in keys] == [found[key] for key in keys]


def test_a_branch_that_is_gone_on_with_is_not_lost(model):
    part = model("periodic", "m.toml", "--continue", "omega=1.5:1.7", "--out", "part")
    assert part.returncode == 0, part.stderr
    pages = sum(-(-path.stat().st_size // 4096) for path in (model.folder / "part").iterdir())
    rows = (model.folder / "part/branch.csv").read_text()
    tried = 0
    for room in range(pages + 1, 3 * pages, max(1, pages // 6)):
        shutil.rmtree(model.folder / "kept", ignore_errors=True)
        shutil.copytree(model.folder / "part", model.folder / "kept")
        result = in_room(model, room, "periodic", "m.toml", "--continue", "omega=1.5:1.9", "--restart", "r", before="kept")
        if result.returncode == 0:
            continue
        tried += 1
        assert "No space left on device" in result.stderr and "--restart r" in result.stderr, result.stderr
        left = model.folder / "left/r"
        assert (left / "branch.csv").read_text().startswith(rows), room
        again = model("periodic", "m.toml", "--continue", "omega=1.5:1.9", "--restart", "left/r")
        assert again.returncode == 0, again.stderr
        assert (left / "branch.csv").read_text().startswith(rows)
    assert tried > 1
