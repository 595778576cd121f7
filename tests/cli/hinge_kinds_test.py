# SPDX-License-Identifier: Apache-2.0
"""Hinges, couplings, loops and friction of many kinds: exact and stepped motion agree, closed forms hold."""

import pytest

GRAVITY = "[gravity]\nvector = [0, 0, -9.81]\n"


def body(name):
    return f'[[body]]\nname = "{name}"\nmass = 1\ncenter = [0.2, 0, 0]\ninertia = [0.01, 0.02, 0.02]\n'


def hinge(name, parent, child, axes, place=(0, 0, 0), more=""):
    return f'[[hinge]]\nname = "{name}"\nparent = "{parent}"\nchild = "{child}"\nposition = {list(place)}\naxes = {axes}\n{more}\n'.replace("'", '"')


def loop(name):
    return f'[[loop]]\nname = "{name}"\nbody_a = "c"\npoint_a = [0.5, 0, 0]\nbody_b = "b"\npoint_b = [0.4, 0, 0]\naxes = ["ry"]\n'


def coupling(first, second, ratio):
    return f'[[coupling]]\non = ["{first}", "{second}"]\nratio = {ratio}\n'


def friction(axis, keys):
    return f'[[friction]]\non = "{axis}"\n{keys}\n'


TWO = body("a") + body("b")
PARALLEL = (
    TWO
    + body("c")
    + hinge("s", "ground", "a", ["ry"], more="position_0 = 0.3")
    + hinge("t", "ground", "b", ["ry"], (0.5, 0, 0), "position_0 = 0.3")
    + hinge("u", "a", "c", ["ry"], (0.4, 0, 0), "position_0 = -0.3")
)
MODELS = {
    "two balls": TWO + hinge("s", "ground", "a", ["ball"], more="velocity_0 = [1, 2, 3]") + hinge("e", "a", "b", ["ball"], (0.4, 0, 0)),
    "journal": body("a") + hinge("s", "ground", "a", ["ry"], more="position_0 = 0.5") + friction("s.ry", "mu = 0.2\nradius = 0.02"),
    "gears": TWO + hinge("s", "ground", "a", ["ry"]) + hinge("t", "ground", "b", ["ry"], (1, 0, 0)) + coupling("t.ry", "s.ry", -2) + friction("s.ry", "limit = 0.3"),
    "rack": TWO
    + hinge("s", "ground", "a", ["ry"], more="position_0 = 0.3")
    + hinge("t", "ground", "b", ["tx"], (0, 0, -0.1), "position_0 = 0.03")
    + coupling("t.tx", "s.ry", 0.1)
    + friction("t.tx", "limit = 1"),
    "weld": TWO + hinge("s", "ground", "a", ["ry"]) + hinge("w", "a", "b", [], (0.4, 0, 0)),
    "universal": TWO
    + hinge("s", "ground", "a", ["rx", "ry"], more="position_0 = [0.3, 0.2]")
    + hinge("t", "a", "b", ["rz", "tx"], (0.4, 0, 0), "stiffness = [1, 100]\ndamping = [0.1, 1]"),
    "one loop twice": PARALLEL + loop("l") + loop("again") + friction("s.ry", "limit = 0.5"),
    "stop and friction": body("a")
    + hinge("s", "ground", "a", ["ry"], more="position_0 = -0.5\nlower = -1\nupper = 0.2\nrestitution = 0.5")
    + friction("s.ry", "limit = 0.2\nstatic_limit = 0.4"),
}


def run(stickslip, model, scheme):
    keys = "step = 1e-3" if scheme == "moreau" else "tolerance = 1e-9"
    path = stickslip.write("model.toml", f'{GRAVITY}{model}[run]\nscheme = "{scheme}"\nend_time = 2\noutput_step = 0.1\n{keys}\n')
    summary = stickslip.json("run", path, "--out", "out")
    assert summary["status"] == "success", summary["message"]
    return summary["final"]["position"]


@pytest.mark.parametrize("name", MODELS)
def test_exact_and_stepped_motion_agree(stickslip, name):
    assert run(stickslip, MODELS[name], "moreau") == pytest.approx(run(stickslip, MODELS[name], "event"), abs=1e-4)


def test_a_slide_that_rubs_by_its_load_stops_where_it_must(stickslip):
    model = body("a") + hinge("s", "ground", "a", ["tx"], more="velocity_0 = 2") + friction("s.tx", "mu = 0.2")
    assert run(stickslip, model, "event")[-1] == pytest.approx(2**2 / (2 * 0.2 * 9.81), abs=1e-8)
