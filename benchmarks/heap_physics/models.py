# SPDX-License-Identifier: Apache-2.0
"""Model files of the three measurements: a heap that slumps to its angle, a silo, an opening that grains run out of.

Lengths in radii r of the grains unless a unit is named. Grains are spheres of glass (2500 kg/m³) without rolling friction and
without restitution. `seed` shifts where they start, by parts of the play between them.
"""

import math

RADIUS = 0.01  # [m]
DENSITY = 2500.0  # of a grain [kg/m³]
GRAVITY = 9.81  # [m/s²]
MASS = DENSITY * 4 / 3 * math.pi * RADIUS**3  # of a grain [kg]
GOLDEN = math.pi * (3 - math.sqrt(5))  # points at angles of k GOLDEN and radii of c √k fill a disc evenly
TOLERANCE = 1e-4  # of the velocity that a step's weight would make: far below the scatter from start to start
SPIRAL = 1.3  # c: no two of these points are then closer than 2.009


def header(title, seed, **numbers):
    lines = [f'title = "{title}"', "[parameters]", f"r = {RADIUS}", f"seed = {seed}"]
    lines += [f"{name} = {value}" for name, value in numbers.items()]
    return "\n".join(lines) + f"\n[gravity]\nvector = [0, 0, {-GRAVITY}]\n"


def grains(name, count, x, y, z):
    return f"""[[body]]
name = "{name}"
count = {count}
mass = {MASS!r}
position_0 = ["{x}", "{y}", "{z}"]
[[shape]]
body = "{name}"
kind = "sphere"
radius = "r"
"""


def plane(x, y, z, normal):
    return f'[[shape]]\nbody = "ground"\nkind = "plane"\nposition = [{x}, {y}, {z}]\nnormal = {list(normal)}\n'


def run(step, end, output):
    return f'[run]\nscheme = "moreau"\nstep = {step}\nend_time = {end}\noutput_step = {output}\n[run.moreau]\ncontact_tolerance = {TOLERANCE}\n'


HEAP_RADIUS = 16.0  # of the plate
HEAP_DEPTH = 10.0  # of the ground below the plate


def heap(mu, seed, end=1.2):
    """A cone of 45° on a round plate of glued grains: what it cannot carry slides off and falls to the ground below."""
    text = header("Angle of repose", seed)
    for k in range(round((HEAP_RADIUS / SPIRAL) ** 2)):
        x, y = (RADIUS * SPIRAL * math.sqrt(k + 0.5) * f(GOLDEN * k) for f in (math.cos, math.sin))
        text += f'[[shape]]\nbody = "ground"\nkind = "sphere"\nradius = "r"\nposition = [{x!r}, {y!r}, {-RADIUS}]\n'
    for layer in range(1, 40):
        height = 2.06 * layer - 1
        radius = HEAP_RADIUS - height
        if radius < SPIRAL:
            break
        angle = f"{GOLDEN!r}*i + seed + {1.7 * layer:g}"
        length = f"r*{SPIRAL}*sqrt(i + 0.5)"
        text += grains(f"layer{layer}", round((radius / SPIRAL) ** 2), f"{length}*cos({angle})", f"{length}*sin({angle})", f"r*{height + 0.02}")
    text += plane(0, 0, -HEAP_DEPTH * RADIUS, (0, 0, 1))
    return text + f'[[contact]]\nname = "touch"\nbetween = ["*", "*"]\nmu = {mu}\n' + run(1e-3, end, 0.02)


SILO_HALF = 4.25  # half width of the shaft
FLOOR_MASS = 1.0  # [kg]


def silo(count, mu_wall, seed, end=1.0, mu=0.3, speed=0.02):
    """A square shaft whose walls move up slowly, so that their friction is that of sliding everywhere; the floor is a body of its
    own, whose support tells what it carries. [speed m/s]"""
    a = SILO_HALF * RADIUS
    text = header("Silo", seed)
    text += grains("grain", count, "2.08*r*(mod(i, 4) - 1.5) + 0.03*r*sin(7*i + seed)",
                   "2.08*r*(mod(floor(i/4), 4) - 1.5) + 0.03*r*cos(5*i + 2*seed)", "1.02*r + 2.05*r*floor(i/16)")
    text += f"""[[body]]
name = "floor"
mass = {FLOOR_MASS}
position_0 = [0, 0, {-RADIUS}]
[[shape]]
body = "floor"
kind = "box"
size = [{1.9 * a}, {1.9 * a}, {2 * RADIUS}]
"""
    text += plane(0, 0, -2 * RADIUS, (0, 0, 1))
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        text += plane(-a * x, -a * y, 0, (x, y, 0))
    text += f"""[[contact]]
name = "grains"
between = ["grain", "grain"]
mu = {mu}
[[contact]]
name = "wall"
between = ["grain", "ground"]
mu = {mu_wall}
surface_velocity = [0, 0, {speed}]
[[contact]]
name = "floor_load"
between = ["grain", "floor"]
mu = {mu}
[[contact]]
name = "support"
between = ["floor", "ground"]
mu = 0
"""
    return text + run(1e-3, end, 0.01)


BIN_HALF = 12.5  # half width of the bin


def opening(width, count, seed, end, mu=0.5):
    """A bin with a flat floor and a square opening in its middle; what has left it falls 30 radii deep and rolls away."""
    a, w = BIN_HALF * RADIUS, 0.5 * width * RADIUS
    text = header("Opening", seed)
    text += grains("grain", count, "2.2*r*(mod(i, 11) - 5) + 0.05*r*sin(7*i + seed)", "2.2*r*(mod(floor(i/11), 11) - 5) + 0.05*r*cos(5*i + 2*seed)",
                   "1.02*r + 2.2*r*floor(i/121)")
    corners = [(-w, -w), (w, -w), (w, w), (-w, w), (-2 * a, -2 * a), (2 * a, -2 * a), (2 * a, 2 * a), (-2 * a, 2 * a)]
    text += '[[shape]]\nbody = "ground"\nname = "floor"\nkind = "mesh"\n'
    text += f"vertices = {[[x, y, 0.0] for x, y in corners]}\nfaces = [[1, 0, 4, 5], [2, 1, 5, 6], [3, 2, 6, 7], [0, 3, 7, 4]]\n"
    # The walls end at the floor: planes would hold what lies below as well.
    text += '[[shape]]\nbody = "ground"\nname = "walls"\nkind = "mesh"\n'
    square = [(-a, -a), (a, -a), (a, a), (-a, a)]
    text += f"vertices = {[[x, y, z] for z in (0.0, 1.0) for x, y in square]}\nfaces = [[1, 0, 4, 5], [2, 1, 5, 6], [3, 2, 6, 7], [0, 3, 7, 4]]\n"
    text += plane(0, 0, -30 * RADIUS, (0, 0, 1))
    return text + f'[[contact]]\nname = "touch"\nbetween = ["*", "*"]\nmu = {mu}\n' + run(2e-3, end, 0.004)
