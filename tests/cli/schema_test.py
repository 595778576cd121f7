# SPDX-License-Identifier: Apache-2.0
"""Every command that prints JSON has a schema, which it keeps to; the pages name every schema."""
import json
import re
import signal
import subprocess

import jsonschema
import pytest

from conftest import PROGRAM, ROOT

SCHEMAS = ROOT / "docs" / "schema"
SHARED = {"basin": "sweep", "montecarlo": "sweep"}
BLOCK = """
[parameters]
k = 1.0
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [["k"]]
[[friction]]
on = "x"
limit = 0.2
[initial]
position = [1]
[run]
step = 0.01
end_time = 1
"""
BOX = """
[[body]]
name = "box"
mass = 1
inertia = [1, 1, 1]
position_0 = [0, 0, 0.5]
[[shape]]
body = "box"
kind = "box"
size = [1, 1, 1]
[[shape]]
body = "ground"
kind = "plane"
normal = [0, 0, 1]
[[contact]]
name = "floor"
between = ["box", "ground"]
mu = 0.5
[gravity]
vector = [0, 0, -9.81]
[run]
step = 0.01
end_time = 0.1
"""
SKATE = ROOT / "models" / "skate.toml"


def commands_with_json():
    told = subprocess.run([PROGRAM, "completion", "fish"], capture_output=True, text=True).stdout
    return sorted(re.findall(r"__fish_seen_subcommand_from (\S+)' -l json ", told))


def valid(document, command):
    schema = json.loads((SCHEMAS / f"{SHARED.get(command, command)}.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    return document


# What comfort_test.py does not run.
CALLS = {
    "check": [["m.toml"], [ROOT / "models" / "box-stack.toml"], [ROOT / "models" / "four-bar.toml"]],
    "compare": [["m.toml", "--schemes", "moreau,event", "--steps", "0.02,0.01"],
                [SKATE, "--epsilons", "1e-4,1e-5", "--set", "run.end_time=0.2"]],
    "basin": [["m.toml", "--over", "initial.position.0=-1:1:3", "--over", "initial.velocity.0=0,1"]],
    "montecarlo": [["m.toml", "--count", 5, "--set", "sweep.over.k={from = 1, to = 2}"]],
    "bifurcation": [["m.toml", "--over", "k=1:2:3"]],
    "plot": [["r"], ["r", "--spectrum", "--y", "x"]],
    "list": [["schemes"], ["solvers"], ["laws"], ["models"], ["papers"]],
    "reproduce": [["splitting"]],
    "dump": [["box.toml", "--at", "0.05"]],
    "solve": [["box-dump"], ["box-dump", "--compare", "all"]],
    "fmu": [["m.toml"]],
}
ELSEWHERE = {"run", "periodic", "shoot", "fit", "sweep", "doctor", "view"}


def test_every_command_that_prints_json_has_a_schema_and_a_test():
    found = set(commands_with_json())
    assert {"run", "sweep", "view"} <= found and found == ELSEWHERE | set(CALLS)
    assert {path.stem for path in SCHEMAS.iterdir()} == {SHARED.get(name, name) for name in found}
    page = (ROOT / "docs" / "results.md").read_text()
    for path in SCHEMAS.iterdir():
        assert f"(schema/{path.name})" in page, path.name


@pytest.mark.parametrize("command", CALLS)
def test_json_follows_the_schema(stickslip, command):
    stickslip.write("m.toml", BLOCK)
    stickslip.write("box.toml", BOX)
    if command == "plot":
        stickslip("run", "m.toml", "--out", "r")
    if command == "solve":
        assert stickslip("dump", "box.toml", "--at", "0.05").returncode == 0
    for arguments in CALLS[command]:
        answer = stickslip(command, *arguments, "--json")
        assert answer.returncode in (0, 1), answer.stderr
        document = valid(json.loads(answer.stdout), command)
        stored = sorted(stickslip.folder.glob("*/summary.json"))
        if stored and command not in ("plot", "solve", "dump"):
            assert json.loads(stored[0].read_text()).keys() == document.keys()
            stored[0].unlink()


def test_the_address_of_the_viewer_follows_its_schema(stickslip):
    process = subprocess.Popen([PROGRAM, "view", "--json"], cwd=stickslip.folder, stdout=subprocess.PIPE, text=True)
    valid(json.loads(process.stdout.readline()), "view")
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0


def test_a_schema_can_fail():
    """They are no empty forms: a key that is missing, or of another kind, is found."""
    for path in SCHEMAS.iterdir():
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({}, json.loads(path.read_text()))
