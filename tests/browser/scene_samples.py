# SPDX-License-Identifier: Apache-2.0
"""Scenes for the page, made by formulas: python3 scene_samples.py TEMPLATE FOLDER writes them as pages to look at."""

import base64
import json
import math
import random
import struct
import sys
from pathlib import Path

MARKER = "/*STICKSLIP_DATA*/null"
STILL = [1, 0, 0, 0]


def packed(values, kind="float32"):
    code, unit = {"float32": ("f", 1), "int16": ("h", 32767), "uint32": ("I", 1)}[kind]
    numbers = [round(v * unit) for v in values] if code != "f" else values
    return {kind: base64.b64encode(struct.pack(f"<{len(numbers)}{code}", *numbers)).decode()}


def about(axis, angle):
    """Quaternion (w, x, y, z) of a turn about a coordinate axis."""
    q = [math.cos(angle / 2), 0, 0, 0]
    q["xyz".index(axis) + 1] = math.sin(angle / 2)
    return q


def shape(kind, size=(), position=(0, 0, 0), quaternion=STILL, **more):
    return {"kind": kind, "size": list(size), "position": list(position), "quaternion": list(quaternion), **more}


def body(name, shapes, position=(0, 0, 0), quaternion=STILL):
    return {"name": name, "shapes": shapes, "position": position, "quaternion": quaternion}


def ground(**more):
    return body("ground", [shape("plane", **more)], [0, 0, 0], STILL)


def scene(title, times, bodies, link="time", forces=None, **more):
    """forces: per frame a list of (point, force, law)."""
    block = {"type": "scene", "planar": False, "title": title, "link": link, "up": "z", "times": times, "bodies": bodies, **more}
    if forces:
        flat = [f for frame in forces for f in frame]
        offsets = [0]
        for frame in forces:
            offsets.append(offsets[-1] + len(frame))
        block["forces"] = {
            "offsets": offsets,
            "point": packed([c for f in flat for c in f[0]]),
            "force": packed([c for f in flat for c in f[1]]),
            "law": packed([f[2] for f in flat], "uint32"),
        }
    return block


def document(*blocks, title="Scene"):
    return {"title": title, "generator": "stickslip", "blocks": list(blocks)}


def curve(title, times, values, unit="m", name="z"):
    return {"type": "figure", "title": title, "link": "time", "x": {"label": "time", "unit": "s", "scale": "linear"}, "y": {"label": name, "unit": unit, "scale": "linear"}, "x_values": times, "series": [{"name": name, "y": values}]}


# ---- bouncing ball


def bounces(t, height, restitution, g=9.81):
    """Height above the floor of a ball dropped at t = 0, and the time since the last impact."""
    first = math.sqrt(2 * height / g)
    if t < first:
        return height - g * t * t / 2, None
    t -= first
    v = restitution * g * first
    while v > 0.05 and t > 2 * v / g:
        t -= 2 * v / g
        v *= restitution
    return (v * t - g * t * t / 2, t) if v > 0.05 else (0, 0)


def bouncing_ball(frames=400, duration=4.0, radius=0.1):
    times = [duration * k / (frames - 1) for k in range(frames)]
    position, quaternion, forces = [], [], []
    for t in times:
        z, since = bounces(t, 1.0, 0.8)
        position += [0.45 * t - 0.9, 0, radius + z]
        quaternion += about("y", 3 * t)
        touching = since is not None and since < 0.02
        forces.append([([0.45 * t - 0.9, 0, 0], [-6 if z > 0 else 0, 0, 30 if z > 0 else 9.81], 0)] if touching else [])
    ball = body("ball", [shape("sphere", [radius])], packed(position), packed(quaternion, "int16"))
    return times, position[2::3], scene("Bouncing ball", times, [ground(), ball], forces=forces, laws=["contact1"], note="A ball of 1 kg falls from 1 m.")


# ---- many spheres


def many_spheres(count=1000, frames=500, duration=10.0):
    draw = random.Random(1)
    side = 10
    radius = 0.1
    times = [duration * k / (frames - 1) for k in range(frames)]
    bodies = [ground()]
    forces = [[] for _ in times]
    for i in range(count):
        layer, place = divmod(i, side * side)
        x = 2.02 * radius * (place % side - side / 2 + 0.5) + 0.01 * draw.uniform(-1, 1)
        y = 2.02 * radius * (place // side - side / 2 + 0.5) + 0.01 * draw.uniform(-1, 1)
        rest = radius + layer * 1.9 * radius
        start = 0.3 * layer + 0.6 * draw.random()
        drop = 0.6 + 0.15 * layer
        spin = draw.uniform(-4, 4)
        position, quaternion = [], []
        for k, t in enumerate(times):
            z, since = bounces(max(0, t - start), drop, 0.3)
            z += rest
            landed = since is not None
            position += [x, y, z]
            quaternion += about("xyz"[i % 3], spin * min(t, start + math.sqrt(2 * drop / 9.81)))
            if landed and layer % 3 == 0:
                forces[k].append(([x, y, z - radius], [0, 0, 0.4 * (side - layer)], i % 7))
        bodies.append(body(f"sphere {i + 1}", [shape("sphere", [radius])], packed(position), packed(quaternion, "int16")))
    return times, scene("A thousand spheres", times, bodies, forces=forces, laws=[f"contact{k + 1}" for k in range(7)])


# ---- box stack


def box_stack(frames=200, duration=5.0):
    times = [duration * k / (frames - 1) for k in range(frames)]
    edge = 0.4
    bodies = [ground()]
    forces = [[] for _ in times]
    for i in range(5):
        position, quaternion = [], []
        for k, t in enumerate(times):
            slide = 0.12 * max(0, i - 2) * max(0, math.sin(1.2 * t)) ** 2
            angle = 0.25 * i
            position += [slide, 0, edge * (i + 0.5)]
            quaternion += about("z", angle)
            load = 9.81 * 2 * (5 - i) / 4
            for sx in (-1, 1):
                for sy in (-1, 1):
                    c, s = math.cos(angle), math.sin(angle)
                    x, y = 0.5 * edge * sx, 0.5 * edge * sy
                    lean = 1 - 0.3 * sx * math.sin(2 * t) * (i > 0)
                    forces[k].append(([slide + c * x - s * y, s * x + c * y, edge * i], [0.25 * load * math.sin(2 * t), 0, load * lean], i))
        bodies.append(body(f"box {i + 1}", [shape("box", [edge, edge, edge])], packed(position), packed(quaternion, "int16")))
    roll = [0.9 - 0.3 * t / duration for t in times]
    lying = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]  # axis along -y
    bodies.append(body("wheel", [shape("cylinder", [0.25, 0.12], quaternion=lying)], packed([c for x in roll for c in (x, -0.5, 0.25)]), packed([c for x in roll for c in about("y", (x - 0.9) / 0.25)], "int16")))
    bodies.append(body("pill", [shape("capsule", [0.1, 0.4])], packed([c for t in times for c in (-0.8, -0.4, 0.3)]), packed([c for t in times for c in about("y", math.pi / 2 + 0.6 * math.sin(2 * t))], "int16")))
    tetra = [-0.2, -0.2, 0, 0.25, -0.2, 0, 0, 0.25, 0, 0, 0, 0.35]
    bodies.append(body("wedge", [shape("hull", vertices=tetra, color="#8a5cc0")], [-0.7, 0.6, 0], STILL))
    bodies.append(body("lamp", [shape("line", [0.012], vertices=[0, 0, 0, 0, 0, 0.5, 0.2, 0, 0.7])], [0.9, 0.6, 0], STILL))
    springs = [{"name": "spring", "body_a": 5, "point_a": [0, 0, 0.2], "body_b": -1, "point_b": [0, 0, 2.8]}]
    return times, scene("Box stack", times, bodies, forces=forces, laws=[f"contact{k + 1}" for k in range(5)], springs=springs)


# ---- planar mechanism


def woodpecker(frames=300, duration=3.0):
    """Like the toy: a sleeve sticks and slides down a pole, the bird swings on a spring; a wheel rolls on the floor."""
    times = [duration * k / (frames - 1) for k in range(frames)]
    pole = body("pole", [shape("box", [0.012, 0.44, 0.01])], [0, 0.22, 0], STILL)
    floor = body("floor", [shape("plane", quaternion=about("x", -math.pi / 2))], [0, 0, 0], STILL)
    sleeve, bird, sleeve_q, bird_q, wheel, wheel_q, forces = [], [], [], [], [], [], []
    for t in times:
        phase = (4 * t) % 1
        fall = 0.02 * (math.floor(4 * t) + (0 if phase < 0.6 else (phase - 0.6) / 0.4))
        y = 0.36 - fall
        tilt = 0.12 * math.sin(8 * math.pi * t)
        swing = 0.6 * math.sin(8 * math.pi * t - 0.6)
        sleeve += [0, y, 0]
        sleeve_q += about("z", tilt)
        bird += [0.055 + 0.01 * math.cos(swing), y + 0.01 * math.sin(swing), 0]
        bird_q += about("z", swing)
        x = 0.16 - 0.03 * t
        wheel += [x, 0.03, 0]
        wheel_q += about("z", 0.03 * t / 0.03)
        sticks = phase < 0.6
        forces.append(([([0.0085, y + 0.02, 0], [-0.3, 0.1, 0], 0), ([-0.0085, y - 0.02, 0], [0.3, 0.1, 0], 1)] if sticks else []) + [([x, 0, 0], [0, 0.25, 0], 2)])
    bodies = [
        floor,
        pole,
        body("sleeve", [shape("box", [0.02, 0.04, 0.02])], packed(sleeve), packed(sleeve_q, "int16")),
        body(
            "bird",
            [shape("capsule", [0.02, 0.05], quaternion=about("x", math.pi / 2)), shape("sphere", [0.016], position=[-0.018, 0.05, 0]), shape("hull", vertices=[-0.03, 0.056, 0, -0.055, 0.05, 0, -0.03, 0.044, 0])],
            packed(bird),
            packed(bird_q, "int16"),
        ),
        body("wheel", [shape("cylinder", [0.03, 0.01])], packed(wheel), packed(wheel_q, "int16")),
        body("rod", [shape("line", [0.002], vertices=[0, 0, 0, 0.06, 0.1, 0])], packed(wheel), STILL),
    ]
    rope = [c for x, y in zip(wheel[0::3], wheel[1::3]) for k in range(9) for c in (x - 0.02 * k, y + 0.03 + 0.01 * math.sin(0.8 * k + 40 * x), 0)]
    bodies.append(body("rope", [shape("line", vertices=packed(rope), moving=True)]))
    springs = [{"name": "spring", "body_a": 2, "point_a": [0.01, 0, 0], "body_b": 3, "point_b": [-0.02, 0, 0]}]
    block = scene("Woodpecker", times, bodies, forces=forces, laws=["upper edge", "lower edge", "floor"], springs=springs, plane="xy", up="y", note="The sleeve sticks while it is tilted.")
    return times, sleeve[1::3], {**block, "planar": True}


# ---- arm with hinges


def arm(frames=120, duration=3.0):
    """A hinge that turns and sticks for the first half, then slips; at its end a slide with friction, a body as a line."""
    times = [duration * k / (frames - 1) for k in range(frames)]
    half = frames // 2
    upper, upper_q, slide, tip, axis, along = [], [], [], [], [], []
    for k, t in enumerate(times):
        angle = 0 if k < half else 0.4 * (t - times[half])
        c, s = math.cos(angle), math.sin(angle)
        upper += [0.25 * c, 0, 1 - 0.25 * s]
        upper_q += about("y", angle)
        out = 0.5 + 0.1 * math.sin(2 * t)
        slide += [out * c, 0, 1 - out * s]
        axis += [0, 1, 0]
        along += [c, 0, -s]
    post = body("post", [shape("cylinder", [0.04, 1], position=[0, 0, 0.5])], [0, 0, 0], STILL)
    bodies = [
        post,
        body("upper", [shape("box", [0.5, 0.06, 0.06])], packed(upper), packed(upper_q, "int16")),
        body("rod", [shape("line", vertices=[0, 0, 0, 0.15, 0, 0, 0.15, 0, -0.2])], packed(slide), packed(upper_q, "int16")),
    ]
    sticks = "1" * half + "0" * (frames - half)
    hinges = [
        {"name": "shoulder.ry", "body": 1, "point": [-0.25, 0, 0], "slides": False, "axis": packed(axis), "force": packed([-2.0 * k / half if k < half else -1.5 for k in range(frames)]), "sticks": sticks},
        {"name": "slide.tx", "body": 2, "point": [0, 0, 0], "slides": True, "axis": packed(along), "force": packed([-8 * math.copysign(1, math.cos(2 * t)) for t in times]), "sticks": "0" * frames},
        {"name": "wrist.ry", "body": 2, "point": [0.15, 0, 0], "slides": False, "axis": packed(axis)},
    ]
    return times, scene("Arm", times, bodies, hinges=hinges)


def empty():
    return scene("Nothing", [], [])


def one_frame():
    return scene("One frame", [0.0], [ground(), body("ball", [shape("sphere", [0.1])], [0, 0, 0.1], STILL)], forces=[[([0, 0, 0], [0, 0, 9.81], 0)]], laws=["contact1"])


def documents():
    times, height, ball = bouncing_ball()
    wood_times, wood_height, planar = woodpecker()
    stack_times, stack = box_stack()
    return {
        "ball": document(ball, curve("Height", times, height)),
        "spheres": document(many_spheres()[1]),
        "stack": document(stack),
        "woodpecker": document(planar, curve("Height of the sleeve", wood_times, wood_height, name="y")),
        "arm": document(arm()[1]),
        "empty": document(empty()),
        "one_frame": document(one_frame()),
    }


def write_page(template, path, content):
    path.write_text(Path(template).read_text().replace(MARKER, json.dumps(content).replace("<", "\\u003c")))


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in documents().items():
        write_page(sys.argv[1], folder / f"{name}.html", content)
