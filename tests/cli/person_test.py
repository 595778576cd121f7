# SPDX-License-Identifier: Apache-2.0
"""What a person meets first: the overview, lists, hints, units and notes."""
import json
import os
import pathlib
import pty
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PENDULUM = """
[equations]
coordinates = ["phi"]
mass = [[1]]
potential = "-9.81*cos(phi)"
[[friction]]
name = "bearing"
on = "phi"
limit = 0.1
viscous = 0.02
[run]
step = 0.01
end_time = 0.1
"""


def test_the_program_alone_prints_an_overview(stickslip):
    result = stickslip()
    assert result.returncode == 0 and result.stderr == ""
    for command in ["run", "check", "compare", "solve", "reproduce", "list"]:
        assert f"\n  {command}" in result.stdout and f"stickslip {command} " in result.stdout


def test_help_lists_every_scheme_and_paper(stickslip):
    text = stickslip("--help").stdout
    for kind in ["schemes", "papers"]:
        for entry in stickslip.json("list", kind)[kind]:
            assert entry["name"] in text
    assert "viscoelastic" in stickslip("run", "--help").stdout
    assert "stick-slip" in stickslip("reproduce", "--help").stdout


def test_list_laws_names_every_law_of_the_model_files(stickslip):
    text = stickslip("list", "laws").stdout
    for word in ["planar", "static_limit", "algebraic", "arctan", "tanh", "clamp", "exponential", "viscous", "surface_velocity", "gap", "between",
                 "mu_static", "restitution", "polygon", "position", "row", "viscoelastic"]:
        assert word in text, word


def test_a_misspelt_scheme_is_blamed_on_the_option(stickslip):
    stickslip.write("p.toml", PENDULUM)
    result = stickslip("run", "p.toml", "--scheme", "evnt")
    assert result.returncode == 2
    assert "--scheme evnt: unknown scheme 'evnt' (did you mean 'event'?)" in result.stderr
    assert "--set" not in result.stderr and "p.toml:" not in result.stderr


def test_check_prints_units_of_angles_and_one_degree_of_freedom(stickslip):
    stickslip.write("p.toml", PENDULUM)
    text = stickslip("check", "p.toml").stdout
    assert "1 degree of freedom (phi [rad])" in text
    assert "limit 0.1 N m, viscous 0.02 N m s/rad" in text


def test_a_free_body_has_six_degrees_of_freedom(stickslip):
    stickslip.write("b.toml", '[[body]]\nname = "ball"\nmass = 1\n[[shape]]\nbody = "ball"\nkind = "sphere"\nradius = 1\n')
    text = stickslip("check", "b.toml").stdout
    assert "6 degrees of freedom (position and rotation of ball)" in text
    assert "1 body with 1 shape" in text and "qw" not in text
    assert stickslip.json("check", "b.toml")["degrees_of_freedom"] == 6


@pytest.mark.parametrize("lines, note", [
    ("stiffness = [[1, 2], [0, 1]]", "the stiffness matrix is not symmetric"),
    ('stiffness = [[1, 0], [0, 1]]\n[[friction]]\nname = "a"\non = "x1"\nlimit = 1\n[[friction]]\nname = "b"\non = "x1"\nlimit = 1',
     "friction 'a' and 'b' both act on x1"),
    ('[[friction]]\non = ["x1", "x2"]\nlimit = 1', "order 1 where planar slip turns"),
])
def test_notes_stand_in_check_and_in_the_summary_of_the_run(stickslip, lines, note):
    stickslip.write("m.toml", f"[matrices]\nmass = [[1, 0], [0, 1]]\n{lines}\n[initial]\nvelocity = [1, 0.5]\n[run]\nstep = 0.01\nend_time = 0.1\n")
    assert note in stickslip("check", "m.toml").stdout
    assert any(note in line for line in stickslip.json("check", "m.toml")["notes"])
    result = stickslip("run", "m.toml", "--out", "r")
    assert result.returncode == 0, result.stderr
    assert note in result.stdout
    assert any(note in line for line in json.loads((stickslip.folder / "r/summary.json").read_text())["notes"])


def test_a_step_longer_than_the_run_is_noted(stickslip):
    stickslip.write("p.toml", PENDULUM)
    assert "longer than the run" in stickslip("check", "p.toml", "--set", "run.step=1").stdout
    assert "longer than the run" not in stickslip("check", "p.toml").stdout


JUMPS = """
[matrices]
mass = [[1]]
stiffness = [[4]]
force = ["FORCE"]
[[friction]]
on = "x1"
limit = 0.1
[run]
step = 0.1
end_time = 300
output_step = 10
"""


def test_every_jump_of_a_periodic_force_is_a_step_end(stickslip):
    stickslip.write("j.toml", JUMPS.replace("FORCE", "sign(sin(10*t))"))
    understood = stickslip.json("check", "j.toml")
    assert understood["breakpoint_count"] == 954 and len(understood["breakpoints"]) == 954
    summary = stickslip.json("run", "j.toml", "--out", "r")
    assert summary["status"] == "success" and summary["notes"] == []


def test_jumps_that_were_not_all_found_are_told(stickslip):
    stickslip.write("j.toml", JUMPS.replace("FORCE", "sign(sin(1/(t + 1e-9)))").replace("300", "3"))
    for text in [stickslip("check", "j.toml").stdout, stickslip("run", "j.toml", "--out", "r").stdout]:
        assert "were found, and" in text and "more may be missing" in text


def test_check_and_run_refuse_a_penetrating_start_in_the_same_words(stickslip):
    stickslip.write("b.toml", '[[body]]\nname = "ball"\nmass = 1\nposition_0 = [0, 0, 0.4]\n[[shape]]\nbody = "ball"\nkind = "sphere"\nradius = 0.5\n'
                              '[[shape]]\nbody = "ground"\nkind = "plane"\n[[contact]]\nbetween = ["ball", "ground"]\n[run]\nstep = 0.01\nend_time = 1\n')
    check, run = stickslip("check", "b.toml"), stickslip("run", "b.toml")
    assert check.returncode == run.returncode == 2 and check.stderr == run.stderr
    assert "b.toml:1:1: key 'body.ball': bodies 'ball' and 'ground' are 0.1 m inside one another" in check.stderr


@pytest.mark.parametrize("limits", ['limit = "t - 1"', 'limit = "1/x1"', 'limit = 1\nstatic_limit = "1 - x1 - 0.5*cos(t)"'])
def test_check_and_run_refuse_an_impossible_limit_at_the_start_in_the_same_words(stickslip, limits):
    stickslip.write("f.toml", f'[matrices]\nmass = [[1]]\n[[friction]]\non = "x1"\n{limits}\n[run]\nstep = 0.1\nend_time = 1\n')
    check, run = stickslip("check", "f.toml"), stickslip("run", "f.toml")
    assert check.returncode == run.returncode == 2 and check.stderr == run.stderr
    assert "f.toml: friction.friction1." in check.stderr


def test_check_refuses_more_output_than_can_be_written(stickslip):
    stickslip.write("p.toml", PENDULUM)
    for step in ["5e-324", "1e-15"]:
        assert stickslip("check", "p.toml", "--set", f"run.output_step={step}").returncode == 2


@pytest.fixture
def build(tmp_path):
    """tools/build with a ninja that works until a file says that it is enough."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/build.ninja").write_text("")
    (tmp_path / "tools/build").write_bytes((ROOT / "tools/build").read_bytes())
    fake = tmp_path / "bin/ninja"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '[57/182] Building'\nwhile [ ! -e {tmp_path}/enough ]; do sleep 0.1; done\n")
    fake.chmod(0o755)

    def start(**streams):
        return subprocess.Popen(["bash", str(tmp_path / "tools/build"), "release"],
                                env=dict(os.environ, PATH=f"{fake.parent}:{os.environ['PATH']}"), stdout=subprocess.DEVNULL, **streams)

    start.enough = tmp_path / "enough"
    return start


def test_the_build_shows_its_progress_on_a_terminal(build):
    terminal, other = pty.openpty()
    process = build(stderr=other)
    os.close(other)
    text = b""
    while b"[57/182]" not in text:
        text += os.read(terminal, 4096)
    build.enough.touch()
    assert process.wait(timeout=120) == 0


def test_the_build_says_one_line_in_a_pipe_and_nothing_if_there_is_nothing_to_do(build):
    process = build(stderr=subprocess.PIPE)
    assert b"Building stickslip" in process.stderr.readline()
    build.enough.touch()
    assert process.communicate(timeout=120)[1] == b"" and process.returncode == 0
    assert build(stderr=subprocess.PIPE).communicate(timeout=120)[1] == b""
