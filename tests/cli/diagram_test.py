# SPDX-License-Identifier: Apache-2.0
"""stickslip bifurcation goes on after a kill, bit for bit; starts by number or name; one command's results in a folder."""
import json
import signal
import subprocess
import time

import jsonschema

from conftest import PROGRAM, ROOT

FORCED = """
[parameters]
omega = 1.0
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["-x - 0.2*x^3 - 0.1*v_x + 1.5*cos(omega*t)"]
[[friction]]
on = "x"
limit = 0.2
[run]
step = 0.01
end_time = 10
[periodic]
period = "2*pi/omega"
"""
# No [initial] table.
WELL = """
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["x - x^3 - 0.8*v_x", "-y - 0.8*v_y"]
[[friction]]
on = "y"
limit = 0.01
[run]
step = 0.02
end_time = 40
"""


def schema(name):
    return json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text())


def test_a_killed_diagram_goes_on_with_the_same_bits(stickslip):
    stickslip.write("m.toml", FORCED)
    arguments = ["bifurcation", "m.toml", "--over", "omega=0.6:1.6:16", "--transient", "8", "--record", "4"]
    whole = stickslip.json(*arguments, "--out", "whole")
    jsonschema.validate(whole, schema("bifurcation"))
    assert whole["resumed"] == 0 and whole["points"] == 2 * 16 * 4 and whole["done"] == 32
    journal, kills = stickslip.folder / "parts/sweep.journal", 0
    for least in (1800, 2600, 3600):
        process = subprocess.Popen([PROGRAM, *arguments, "--out", "parts"], cwd=stickslip.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > least):
            time.sleep(0.002)
        process.kill()
        process.wait()
        if not journal.exists():  # it was complete before the kill
            break
        kills += 1
        with open(journal, "ab") as file:  # as if the kill had come within a write
            file.write(b"\x10\0\0\0\0\0\0\0half")
    assert kills > 0
    if journal.exists():
        again = stickslip.json(*arguments, "--out", "parts")
        assert 0 < again["resumed"] < 32 and again["status"] == "success"
    assert (stickslip.folder / "parts/bifurcation.csv").read_bytes() == (stickslip.folder / "whole/bifurcation.csv").read_bytes()
    assert stickslip.files("parts") == stickslip.files("whole") == ["bifurcation.csv", "report.html", "summary.json"]


def test_an_unfinished_diagram_belongs_to_its_command(stickslip):
    stickslip.write("m.toml", FORCED)
    arguments = ["bifurcation", "m.toml", "--over", "omega=0.6:1.6:400", "--out", "d"]
    process = subprocess.Popen([PROGRAM, *arguments], cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = stickslip.folder / "d/sweep.journal"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > 3000):
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 1 and "the same command goes on from there" in said
    assert json.loads((stickslip.folder / "d/summary.json").read_text())["status"] == "interrupted"
    other = stickslip("bifurcation", "m.toml", "--over", "omega=0.6:1.6:399", "--out", "d")
    assert other.returncode == 2 and "--fresh" in other.stderr
    assert "summary.json" in stickslip.files("d")  # what is refused removes nothing
    fresh = stickslip.json("bifurcation", "m.toml", "--over", "omega=0.6:0.7:2", "--transient", 2, "--record", 1, "--out", "d", "--fresh")
    assert fresh["resumed"] == 0 and fresh["status"] == "success"


def test_mistakes_of_a_range_are_refused(stickslip):
    stickslip.write("m.toml", FORCED)
    for over in ("omega=1:2", "omega=1:1:5", "omega=1:2:1", "omega=1:2:2000000000", "omega=1:nan:3", "=1:2:3"):
        wrong = stickslip("bifurcation", "m.toml", "--over", over)
        assert wrong.returncode == 2 and stickslip.files() == ["m.toml"], over


def test_starts_are_set_by_number_and_name_without_an_initial_table(stickslip):
    stickslip.write("m.toml", WELL)
    found = stickslip.json("basin", "m.toml", "--over", "initial.position.0=-1.5:1.5:4", "--over", "initial.velocity.y=-1,1",
                           "--resolution", 0.1, "--out", "b")
    assert found["status"] == "success" and found["done"] == 8
    basins = [line.split(",") for line in (stickslip.folder / "b/basin.csv").read_text().splitlines()[1:]]
    assert {row[3] for row in basins if float(row[1]) < 0} == {"0"} and {row[3] for row in basins if float(row[1]) > 0} == {"1"}
    started = stickslip.json("run", "m.toml", "--set", "initial.position.x=0.5", "--set", "initial.velocity.1=2", "--set", "run.end_time=0.02")
    with open(stickslip.folder / "m/trajectory.csv") as file:
        assert file.read().splitlines()[1].startswith("0,0.5,0,0,2,")
    assert started["status"] == "success"
    # A list of the file takes names as well; all keep their places.
    stickslip.write("n.toml", WELL.replace("[run]", "[initial]\nposition = [0.1, 0.2]\n[run]"))
    stickslip.json("run", "n.toml", "--set", "initial.position.y=0.7", "--set", "run.end_time=0.02")
    assert (stickslip.folder / "n/trajectory.csv").read_text().splitlines()[1].startswith("0,0.1,0.7,0,0,")
    for setting, said in (("initial.position.z=1", "there is no coordinate 'z'"), ("initial.position.2=1", "must lie in 0 .. 1"),
                          ("initial.position.x=deep", "unknown name 'deep'")):
        wrong = stickslip("run", "m.toml", "--set", setting)
        assert wrong.returncode == 2 and said in wrong.stderr, wrong.stderr


def test_results_of_two_commands_never_stand_side_by_side(stickslip):
    stickslip.write("m.toml", WELL)
    short = ["--set", "run.end_time=0.2", "--out", "r"]
    commands = {
        "run": (["run", "m.toml", *short], ["events.csv", "report.html", "result.h5", "summary.json", "trajectory.csv"]),
        "sweep": (["sweep", "m.toml", "--over", "run.step=0.01,0.02", *short], ["report.html", "summary.json", "sweep.csv", "sweep.h5"]),
        "basin": (["basin", "m.toml", "--over", "initial.position.0=0,1", *short],
                  ["basin.csv", "report.html", "summary.json", "sweep.csv", "sweep.h5"]),
        "bifurcation": (["bifurcation", "m.toml", "--over", "run.step=0.01:0.02:2", *short], ["bifurcation.csv", "report.html", "summary.json"]),
        "compare": (["compare", "m.toml", "--schemes", "moreau", "--steps", "0.02,0.01", *short], ["report.html", "summary.json"]),
    }
    for name in ("run", "sweep", "run", "basin", "sweep", "bifurcation", "basin", "compare", "bifurcation", "run"):
        arguments, files = commands[name]
        done = stickslip(*arguments)
        assert done.returncode in (0, 1), done.stderr
        assert stickslip.files("r") == files, name
