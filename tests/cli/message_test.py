# SPDX-License-Identifier: Apache-2.0
"""What a person reads when a model goes wrong: where, which number, and what helps."""
import pytest

from run_test import BLOCK

FREE = """
[matrices]
coordinates = ["x"]
mass = [[1]]
force = [FORCE]
[initial]
velocity = [0.3]
[run]
step = 0.01
end_time = 3
"""
ROD = """
[equations]
coordinates = ["x", "y"]
kinetic_energy = "0.5*v_x^2 + 0.5*v_y^2"
potential = "9.81*y"
force = ["0", "0"]
[[constraint]]
name = "rod"
position = "x^2 + y^2 - 1"
viscoelastic = { stiffness = 1, damping = 2, epsilon = 1e-6 }
[initial]
position = [1, 0]
[run]
scheme = "viscoelastic"
end_time = 0.2
output_step = 0.01
"""
BOX = """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "b"
mass = 1
inertia = [0.01, 0.01, 0.01]
position_0 = [0, 0, 0.12]
spin_0 = [1, 0, 0]
[[shape]]
body = "b"
kind = "box"
size = [0.2, 0.2, 0.2]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["*", "*"]
mu = 0.5
[run]
step = 0.005
end_time = 0.3
"""


@pytest.mark.parametrize("force, words", [
    ('"exp(50*x)"', ["t = 0.16 s", "reduce run.step", "x"]),
    ('"abs(v_x - 0.3)^0.5"', ["t = 0 s", "slope of a force", "power below 1"]),
    ('"log(0.5 - t)"', ["t = 0.5 s", "the force on x is", "expression"]),
    ('"sqrt(0.25 - x)"', ["the force on x is", "nan", "expression"]),
])
def test_a_force_that_is_no_number_is_named_with_its_time(stickslip, force, words):
    stickslip.write("free.toml", FREE.replace("FORCE", force))
    result = stickslip("run", "free.toml")
    assert result.returncode == 1
    for word in words:
        assert word in result.stderr, result.stderr


def test_the_force_is_named_beside_friction_too(stickslip):
    stickslip.write("block.toml", BLOCK.replace("mass = [[1]]", 'mass = [[1]]\nforce = ["log(0.5 - t)"]'))
    for scheme in ("moreau", "splitting"):
        result = stickslip("run", "block.toml", "--scheme", scheme)
        assert result.returncode == 1 and "the force on x1 is" in result.stderr and "t = 0.5 s" in result.stderr, result.stderr


@pytest.mark.parametrize("setting, words", [
    ('friction.shoe.limit="1/(t-0.5)"', "block.toml: friction.shoe.limit = -2 at t = 0"),
    ('friction.shoe.limit="1/(2.005-t) - 1"', "block.toml: friction.shoe.limit = "),
    ('friction.shoe.static_limit="1 + 1/(t-0.5)"', "block.toml: friction.shoe.static_limit = -1 is below limit = 1 at t = 0"),
])
def test_a_limit_that_is_impossible_is_named_with_file_and_key(stickslip, setting, words):
    stickslip.write("block.toml", BLOCK)
    result = stickslip("run", "block.toml", "--set", setting, "--set", "run.end_time=3")
    assert result.returncode in (1, 2) and words in result.stderr, result.stderr


def test_the_limit_of_a_constraint_is_named_with_file_and_key(stickslip):
    stickslip.write("rod.toml", ROD.replace("epsilon = 1e-6", 'epsilon = 1e-6, limit = "20*t - 1"'))
    result = stickslip("run", "rod.toml")
    assert result.returncode in (1, 2) and "rod.toml: constraint.rod.viscoelastic.limit = -1" in result.stderr, result.stderr


def test_numbers_too_large_for_their_products_are_told_as_such(stickslip):
    stickslip.write("block.toml", BLOCK.replace("mass = [[1]]", "mass = [[1]]\nforce = [1e300]"))
    result = stickslip("run", "block.toml")
    assert result.returncode == 1 and "nan" not in result.stderr and "choose other units" in result.stderr, result.stderr
    stickslip.write("rod.toml", ROD)
    result = stickslip("run", "rod.toml", "--set", "equations.force.0=1e300")
    assert result.returncode == 1 and "absolute_scale" not in result.stderr, result.stderr


@pytest.mark.parametrize("integrator", ["radau", "dormand_prince"])
def test_a_force_near_the_smallest_number_changes_nothing(stickslip, integrator):
    """Error weights that follow it are so small that their squares vanish."""
    stickslip.write("rod.toml", ROD + f'[run.viscoelastic]\nintegrator = "{integrator}"\n')
    for size in ("1e-140", "1e-160", "1e-250"):
        summary = stickslip.json("run", "rod.toml", "--set", f"equations.force.0={size}")
        without = stickslip.json("run", "rod.toml")
        assert summary["final"]["position"] == pytest.approx(without["final"]["position"], abs=1e-6)


@pytest.mark.parametrize("setting", ["body.b.mass=1e20", "shape.0.size=[1e10,0.2,0.2]", "shape.0.size=[1e8,0.2,0.2]"])
def test_what_rounding_hides_is_not_called_impossible(stickslip, setting):
    stickslip.write("box.toml", BOX)
    result = stickslip("run", "box.toml", "--set", setting)
    assert "no solution" not in result.stdout + result.stderr, result.stderr


def test_an_expression_in_a_list_of_set_needs_quotes(stickslip):
    stickslip.write("block.toml", BLOCK)
    result = stickslip("run", "block.toml", "--set", "initial.velocity=[20*0.03]")
    assert result.returncode == 2 and """--set 'initial.velocity=["20*0.03"]'""" in result.stderr, result.stderr
    assert stickslip("run", "block.toml", "--set", 'initial.velocity=["20*0.03"]').returncode == 0
    result = stickslip("check", "block.toml", "--set", "matrices.mass=[[max(1, 2)]]")
    assert """'matrices.mass=[["max(1, 2)"]]'""" in result.stderr, result.stderr


def test_laws_on_surfaces_that_move_differently_do_not_add_up(stickslip):
    second = '[[friction]]\nname = "b"\non = "x1"\nlimit = 0.5\nsurface_velocity = SPEED\n[initial]'
    for speed, adds in (("0", True), ("1.0", False), ('"sin(t)"', False)):
        stickslip.write("two.toml", BLOCK.replace("[initial]", second.replace("SPEED", speed)))
        note, = stickslip.json("check", "two.toml")["notes"]
        assert ("oppose each other" not in note) == adds and "'shoe' and 'b' both act on x1" in note, note
