# SPDX-License-Identifier: Apache-2.0
"""Ground of triangles: a plane however it is divided, files, units, refusals; problems written by a run; threads."""
import struct

import h5py
import numpy
import pytest

BODIES = """
[gravity]
vector = [{g0}, 0, -9.81]
[[body]]
name = "ball"
mass = 1
position_0 = [-0.7, -0.4, 0.1]
velocity_0 = [1.5, 0.3, 0]
[[shape]]
body = "ball"
kind = "sphere"
radius = 0.1
[[body]]
name = "box"
mass = 1
position_0 = [-0.7, 0.3, 0.05]
velocity_0 = [1.5, -0.2, 0]
spin_0 = [0, 0, 0.4]
[[shape]]
body = "box"
kind = "box"
size = [0.2, 0.14, 0.1]
[[body]]
name = "capsule"
mass = 1
position_0 = [0.2, 0.7, 0.05]
orientation_0 = [1, 1, 0, 0]
velocity_0 = [-0.8, -0.5, 0]
[[shape]]
body = "capsule"
kind = "capsule"
radius = 0.05
length = 0.2
[[contact]]
name = "touch"
between = ["*", "ground"]
mu = 0.2
{contact}
[run]
scheme = "{scheme}"
step = 0.005
end_time = 0.5
tolerance = 1e-8
"""
PLANE = '[[shape]]\nbody = "ground"\nkind = "plane"\n'
MESH = '[[shape]]\nbody = "ground"\nname = "floor"\nkind = "mesh"\n'


def divided(cells=7, size=2.0):
    """A square with corners moved about, at z = 0."""
    random = numpy.random.default_rng(5)
    x = numpy.zeros((cells + 1, cells + 1, 3))
    for j in range(cells + 1):
        for i in range(cells + 1):
            inner = 0 < i < cells and 0 < j < cells
            x[j, i, :2] = size * ((numpy.array([i, j]) + (random.uniform(-0.2, 0.2, 2) if inner else 0)) / cells - 0.5)
    n = cells + 1
    faces = []
    for j in range(cells):
        for i in range(cells):
            a = j * n + i
            faces += [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]] if (i + j) % 2 else [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]
    return x.reshape(-1, 3), faces


def rows(stickslip, text, name, *options):
    stickslip.write(f"{name}.toml", text)
    answer = stickslip.json("run", f"{name}.toml", "--out", name, *options)
    with h5py.File(stickslip.folder / name / "result.h5") as file:
        return answer, file["trajectory/q"][:] if "trajectory/q" in file else None


def final(stickslip, text, name, *options):
    stickslip.write(f"{name}.toml", text)
    answer = stickslip.json("run", f"{name}.toml", "--out", name, *options)
    assert answer["status"] == "success", answer["message"]
    lines = (stickslip.folder / name / "trajectory.csv").read_text().splitlines()
    return numpy.array([[float(x) for x in line.split(",")] for line in lines[1:]])


@pytest.mark.parametrize("scheme, contact", [("moreau", ""), ("compliant", "compliance = { stiffness = 1e5, damping = 50 }")])
def test_a_divided_plane_is_a_plane(stickslip, scheme, contact):
    text = BODIES.format(g0=1.0, scheme=scheme, contact=contact)
    corners, faces = divided()
    mesh = MESH + f"vertices = {corners.tolist()}\nfaces = {faces}\n"
    on_plane = final(stickslip, text + PLANE, "plane")
    on_mesh = final(stickslip, text + mesh, "mesh")
    assert on_plane.shape == on_mesh.shape
    assert numpy.abs(on_plane - on_mesh).max() <= (1e-9 if scheme == "moreau" else 1e-5) * numpy.abs(on_plane).max()


def test_files_and_what_check_prints(stickslip):
    text = BODIES.format(g0=0.0, scheme="moreau", contact="")
    corners, faces = divided()
    packed = b"".join(struct.pack("<12fH", 0, 0, 1, *(1000 * corners[f]).ravel(), 0) for f in faces)
    (stickslip.folder / "floor.stl").write_bytes(b" " * 80 + struct.pack("<I", len(faces)) + packed)
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join("f " + " ".join(str(c + 1) for c in f) + "\n" for f in faces)
    (stickslip.folder / "floor.obj").write_text(obj)
    on_plane = final(stickslip, text + PLANE, "plane")
    for name, keys in (("stl", 'file = "floor.stl"\nscale = 0.001\n'), ("obj", 'file = "floor.obj"\n')):
        found = final(stickslip, text + MESH + keys, name)
        assert numpy.abs(found - on_plane).max() <= 1e-5
    answer = stickslip.json("check", "stl.toml")
    assert answer["surfaces"] == ["mesh floor: 98 triangles, 64 corners, 1 flat part, open"]
    assert '"mesh"' in (stickslip.folder / "stl" / "report.html").read_text()


def test_a_body_of_several_hulls(stickslip):
    """An L of two boxes from one file: mass centre, moments and motion are those of two shapes given one by one."""
    def block(low, high, first):
        x = [[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)]
        quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
        return "".join("v {} {} {}\n".format(*p) for p in x) + "".join("f " + " ".join(str(c + first) for c in q) + "\n" for q in quads)
    (stickslip.folder / "l.obj").write_text("o a\n" + block((0, 0, 0), (0.3, 0.1, 0.1), 1) + "o b\n" + block((0, 0, 0.1), (0.1, 0.1, 0.3), 9))
    head = '[gravity]\nvector = [0, 0, -9.81]\n[[body]]\nname = "l"\nmass = 2\ncenter = "shapes"\nposition_0 = [0, 0, 0.05]\nspin_0 = [0.5, 1, 0]\n'
    tail = PLANE + '[[contact]]\nname = "touch"\nbetween = ["l", "ground"]\nmu = 0.4\n[run]\nstep = 0.002\nend_time = 0.6\n'
    of_file = '[[shape]]\nbody = "l"\nkind = "hull"\nfile = "l.obj"\nsplit = true\n'
    boxes = '[[shape]]\nbody = "l"\nkind = "box"\nsize = [0.3, 0.1, 0.1]\nposition = [0.15, 0.05, 0.05]\n' \
            '[[shape]]\nbody = "l"\nkind = "box"\nsize = [0.1, 0.1, 0.2]\nposition = [0.05, 0.05, 0.2]\n'
    a, b = final(stickslip, head + of_file + tail, "file"), final(stickslip, head + boxes + tail, "boxes")
    assert a[0, 1:4] == pytest.approx([(0.003 * 0.15 + 0.002 * 0.05) / 0.005, 0.05, 0.05 + (0.003 * 0.05 + 0.002 * 0.2) / 0.005])
    assert numpy.abs(a[:40] - b[:40]).max() <= 1e-6


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_any_unit_of_length(stickslip, unit):
    def model(u):
        return f"""
[gravity]
vector = [0, 0, {-9.81 * u}]
[[body]]
name = "ball"
count = 4
mass = 1
position_0 = ["{0.3 * u}*(i - 1.5)", "{0.05 * u}*i", {0.5 * u}]
[[shape]]
body = "ball"
kind = "sphere"
radius = {0.1 * u}
[[shape]]
body = "ground"
kind = "heightfield"
size = [{2 * u}, {2 * u}]
cells = [8, 8]
heights = "{0.1 * u}*sin(x*{3 / u})*cos(y*{2 / u})"
[[contact]]
name = "touch"
between = ["*", "*"]
mu = 0.3
[run]
step = 0.002
end_time = 0.6
"""
    one, other = final(stickslip, model(1.0), "one"), final(stickslip, model(unit), "other")
    columns = [k for k in range(1, 29) if (k - 1) % 7 < 3]
    assert numpy.abs(other[:, columns] / unit - one[:, columns]).max() <= 1e-6


def test_refusals(stickslip):
    text = BODIES.format(g0=0.0, scheme="moreau", contact="")
    for keys, message in (
        ("vertices = [[0,0,0],[1,0,0],[0,1,0],[1,1,1]]\nfaces = [[0,1,2],[1,2,3]]", "do not agree which side is outside"),
        ("vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0,0,-1]]\nfaces = [[0,1,2],[1,0,3],[0,1,4]]", "two faces at most"),
        ("vertices = [[0,0,0],[1,0,0],[3,0,0]]\nfaces = [[0,1,2]]", "has no area"),
        ('file = "floor.stp"', "floor.stp"),
    ):
        stickslip.write("wrong.toml", text + MESH + keys + "\n")
        done = stickslip("check", "wrong.toml")
        assert done.returncode == 2 and message in done.stderr and "wrong.toml:" in done.stderr, done.stderr
    stickslip.write("event.toml", text.replace('"moreau"', '"event"') + PLANE)
    assert stickslip("run", "event.toml").returncode == 2


def test_a_run_writes_problems(stickslip):
    text = BODIES.format(g0=0.0, scheme="moreau", contact="") + PLANE
    stickslip.write("keep.toml", text.replace("tolerance = 1e-8", "dump = [0.1, 0.25]"))
    answer = stickslip.json("run", "keep.toml", "--out", "keep")
    assert answer["status"] == "success"
    alone = stickslip.json("dump", "keep.toml", "--at", "0.1,0.25", "--out", "alone")
    for step in alone["steps"]:
        name = step["file"].split("/")[-1]
        with h5py.File(stickslip.folder / "keep" / name) as a, h5py.File(stickslip.folder / "alone" / name) as b:
            assert (a["solution/r"][:] == b["solution/r"][:]).all()
    stickslip.write("late.toml", text.replace("tolerance = 1e-8", "dump = [0.1, 7]"))
    done = stickslip("check", "late.toml")
    assert done.returncode == 2 and "must lie in the run" in done.stderr


def test_threads_do_not_show(stickslip):
    text = """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "ball"
count = 500
mass = 0.5
position_0 = ["0.105*mod(i, 10) + 0.005*sin(7*i)", "0.105*mod(floor(i/10), 10) + 0.005*cos(5*i)", "0.05 + 0.1*floor(i/100)"]
[[shape]]
body = "ball"
kind = "sphere"
radius = 0.05
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "touch"
between = ["*", "*"]
mu = 0.4
[run]
step = 0.002
end_time = 0.01
"""
    one, three = final(stickslip, text, "one", "--threads", "1"), final(stickslip, text, "three", "--threads", "3")
    assert (one == three).all()
