# SPDX-License-Identifier: Apache-2.0
"""Trees in other units: lengths, masses and times a million times larger or smaller give the same angles."""

import math

import pytest

HEAD = """[parameters]
L = 1.0
M = 1.0
T = 1.0
g = "9.81*L/T^2"
torque = "M*L^2/T^2"
[gravity]
vector = [0, 0, "-g"]
"""


def link(name, mass=0.1, length=0.1):
    across = f'"{mass * (length**2 + 4e-4) / 12}*M*L^2"'
    return f'[[body]]\nname = "{name}"\nmass = "{mass}*M"\ncenter = ["{length / 2}*L", 0, 0]\ninertia = ["{mass * 8e-4 / 12}*M*L^2", {across}, {across}]\n'


def hinge(name, parent, child, place, axis, start, more=""):
    return f'[[hinge]]\nname = "{name}"\nparent = "{parent}"\nchild = "{child}"\nposition = ["{place}*L", 0, 0]\naxes = ["{axis}"]\nposition_0 = {start}\n{more}'


def links(starts, axes, more=""):
    text = HEAD
    for k, (start, axis) in enumerate(zip(starts, axes)):
        text += link(f"k{k}") + hinge(f"h{k}", f"k{k - 1}" if k else "ground", f"k{k}", 0.1 if k else 0, axis, start, more)
    return text


def friction(axis, limit):
    return f'[[friction]]\non = "{axis}"\nlimit = "{limit}*torque"\n'


def chain():
    axes = ["ry", "rz", "ry", "rz"]
    return links([0.3 * math.sin(1 + k) for k in range(4)], axes) + "".join(friction(f"h{k}.{axis}", 0.02) for k, axis in enumerate(axes))


def stops():
    return links([0, 0.1, 0.2], ["ry"] * 3, "lower = -0.5\nupper = 0.6\nrestitution = 0.4\n")


def ground():
    """An arm that falls on the ground, slides and comes to rest."""
    text = links([-0.5, 0.4, 0.7], ["ry"] * 3, "lower = -2\nupper = 2\n")
    for k in range(3):
        text += friction(f"h{k}.ry", 0.002)
        text += f'[[shape]]\nbody = "k{k}"\nkind = "capsule"\nradius = "0.01*L"\nlength = "0.08*L"\nposition = ["0.05*L", 0, 0]\norientation = ["sqrt(0.5)", 0, "sqrt(0.5)", 0]\n'
    return text + '[[shape]]\nbody = "ground"\nkind = "plane"\nposition = [0, 0, "-0.08*L"]\n[[contact]]\nbetween = ["*", "ground"]\nmu = 0.5\n'


def four_bar():
    text = HEAD + link("crank") + link("rod", 0.2, 0.25) + link("rocker", 0.2, 0.2)
    text += hinge("a", "ground", "crank", 0, "ry", -1.0) + hinge("b", "crank", "rod", 0.1, "ry", 0.8) + hinge("c", "ground", "rocker", 0.22, "ry", -1.5)
    text += '[[loop]]\nbody_a = "rod"\npoint_a = ["0.25*L", 0, 0]\nbody_b = "rocker"\npoint_b = ["0.2*L", 0, 0]\naxes = ["ry"]\n'
    return text + '[initial]\nconsistent = "project"\n' + friction("a.ry", 0.01)


def flexible():
    text = HEAD + '[[body]]\nname = "boom"\nflexible = { kind = "beam", length = "L", youngs_modulus = "2e9*M/(L*T^2)", density = "2000*M/L^3", area = "1e-4*L^2", '
    text += 'Iy = "8e-10*L^4", motions = ["z"], modes = 3, elements = 6, damping = 0.01 }\n'
    return text + '[[hinge]]\nname = "root"\nparent = "ground"\nchild = "boom"\naxes = ["ry"]\nposition_0 = -0.5\n' + friction("root.ry", 0.3)


UNITS = [(1e6, 1, 1), (1e-6, 1, 1), (1, 1e6, 1), (1, 1, 1e6), (1, 1, 1e-6), (1e-6, 1e6, 1e-6)]
# Rests on the ground to 1e-9 of its shapes, so that its angles are that of where it lies by 1e-7.
CASES = [(chain, "event", 1e-9), (chain, "moreau", 1e-11), (stops, "event", 1e-9), (stops, "moreau", 1e-11), (ground, "moreau", 1e-6)]
CASES += [(four_bar, "event", 1e-9), (four_bar, "moreau", 1e-11), (flexible, "event", 1e-7), (flexible, "moreau", 1e-9)]


@pytest.mark.parametrize("make, scheme, tolerance", CASES)
def test_trees_are_the_same_in_all_units(stickslip, make, scheme, tolerance):
    run = 'step = "2e-3*T"' if scheme == "moreau" else "tolerance = 1e-9"
    path = stickslip.write("tree.toml", make() + f'[run]\nscheme = "{scheme}"\nend_time = "0.6*T"\noutput_step = "0.1*T"\n{run}\n')

    def angles(L, M, T):
        units = [f"parameters.{name}={value}" for name, value in (("L", L), ("M", M), ("T", T))]
        summary = stickslip.json("run", path, "--out", "out", *(word for unit in units for word in ("--set", unit)))
        assert summary["status"] == "success", (L, M, T, summary["message"])
        # Modes have their largest entry 1, be it a displacement or a rotation: their coordinates have a size of their own in each unit.
        return [q for name, q in zip(summary["coordinates"], summary["final"]["position"]) if ".r" in name]

    expected = angles(1, 1, 1)
    for units in UNITS:
        assert angles(*units) == pytest.approx(expected, abs=tolerance), units
