# SPDX-License-Identifier: Apache-2.0
"""The scheme compliant against closed forms that no other test has, and what quasistatic runs give to shoot, fit and derivatives."""
import csv
import json
import math

import pytest

GRAVITY = 9.81


def block(force="0", m=1.0, weight=-GRAVITY, mu=0.3, kn=1e4, kt=8e3, c=100.0, more="", z=-GRAVITY / 1e4, v=0.0, vz=0.0, d=0.0,
          tolerance=1e-10, end=1.0, row=0.01, head=""):
    """A mass in the plane on a contact without coupling of normal and tangent."""
    return f"""
{head}
[matrices]
coordinates = ["x", "z"]
mass = [[{m!r}, 0], [0, {m!r}]]
force = ["{force}", {weight!r}]
[[contact]]
name = "c"
gap = "z"
slip = ["x"]
mu = {mu}
compliance = {{ stiffness = [[{kn}, 0], [0, {kt!r}]], damping = {c!r}{more} }}
[initial]
position = [0, {z!r}]
velocity = [{v!r}, {vz!r}]
deformation = [{d!r}]
[run]
scheme = "compliant"
tolerance = {tolerance}
end_time = {end!r}
output_step = {row!r}
"""


def run(stickslip, text, *more):
    stickslip.write("m.toml", text)
    result = stickslip.json("run", "m.toml", "--out", "out", *more)
    assert result["status"] == "success", result["message"]
    return result


def table(stickslip, name):
    with open(stickslip.folder / "out" / name) as file:
        return list(csv.DictReader(file))


def root(f, low, high):
    """Of an f that rises from below 0 at low."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if f(middle) > 0 else (middle, high)
    return low


@pytest.mark.parametrize("L, M, T", [(1, 1, 1), (1e6, 1, 1), (1e-6, 1, 1), (1, 1e6, 1), (1, 1e-6, 1), (1, 1, 1e6), (1, 1, 1e-6),
                                     (1e6, 1e-6, 1e6)])
def test_without_friction_nothing_holds_a_block_back(stickslip, L, M, T):
    k = M / T**2
    result = run(stickslip, block(mu=0, v=2 * L / T, m=M, weight=-GRAVITY * M * L / T**2, kn=1e4 * k, kt=8e3 * k, c=180 * M / T,
                                  z=0.01 * L, end=T, row=0.1 * T))
    assert result["final"]["position"][0] == pytest.approx(2 * L, rel=1e-13)


@pytest.mark.parametrize("part", [1 - 1e-9, 1, 1 + 1e-9, 1.001])
def test_a_block_pulled_at_its_limit_rests_and_beyond_it_slides(stickslip, part):
    force = 0.3 * GRAVITY * part
    result = run(stickslip, block(force=repr(force), d=-force / 8e3, end=5.0))
    way = 0.5 * 0.3 * GRAVITY * max(0.0, part - 1) * 25
    assert result["final"]["position"][0] == pytest.approx(way, rel=1e-9, abs=1e-14)
    assert result["events"]["slip"] == 0, "where it slides it does from the start"


@pytest.mark.parametrize("end", [1.0, 1e-2, 1e-4, 1e-6])
def test_a_block_at_rest_on_its_contact_may_be_looked_at_for_as_short_as_one_likes(stickslip, end):
    result = run(stickslip, block(kn=1e3, z=-GRAVITY / 1e3, end=end, row=end / 2))
    assert result["final"]["position"][1] == pytest.approx(-GRAVITY / 1e3, rel=1e-12)


@pytest.mark.parametrize("end", [1.0, 1e-2])
def test_a_start_that_nothing_can_have_brought_about_is_refused(stickslip, end):
    stickslip.write("m.toml", block(kn=1e3, z=-50.0, end=end, row=end / 2))
    done = stickslip("run", "m.toml")
    assert done.returncode == 2 and "contact 'c' starts 50 m inside" in done.stderr


@pytest.mark.parametrize("end, v", [(1.5, 0.0), (1.5, 2.0), (0.05, 2.0), (10.0, 0.0), (60.0, 0.0), (1e4, 2.0)])
@pytest.mark.parametrize("L, M, T", [(1, 1, 1), (1e6, 1e-6, 1e-6), (1e-6, 1e6, 1e6)])
def test_so_is_one_that_would_throw_it_many_times_its_way(stickslip, end, v, L, M, T):
    """5 m inside where its weight makes 1 cm: 500 times the force that can have pressed it there."""
    k = M / T**2
    stickslip.write("m.toml", block(kn=1e3 * k, kt=800 * k, c=20 * M / T, m=M, weight=-GRAVITY * M * L / T**2,
                                    v=v * L / T, z=-5.0 * L, end=end * T, row=end * T / 2))
    done = stickslip("run", "m.toml")
    assert done.returncode == 2 and "inside: its compliance would hold" in done.stderr, done.stderr


def test_a_strained_start_that_a_push_can_have_brought_about_is_not(stickslip):
    result = run(stickslip, block(kn=1e3, z=-0.2, end=0.5, row=0.25))
    assert result["status"] == "success"


@pytest.mark.parametrize("end", [0.05, 50.0])
def test_nor_is_a_grip_however_hard_it_presses(stickslip, end):
    """Between two walls, 500 N on each, beside a weight of 9.81 N: the contacts press against one another."""
    result = run(stickslip, f"""
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
name = "left"
gap = "x"
slip = "z"
mu = 0.5
compliance = {{ stiffness = [[1e4, 0], [0, 1e4]], damping = 200 }}
[[contact]]
name = "right"
gap = "-0.1 - x"
slip = "z"
mu = 0.5
compliance = {{ stiffness = [[1e4, 0], [0, 1e4]], damping = 200 }}
[initial]
position = [-0.05, 0]
[run]
scheme = "compliant"
end_time = {end}
output_step = {end / 2}
""")
    assert result["final"]["position"] == pytest.approx([-0.05, -GRAVITY / 2e4 if end > 1 else result["final"]["position"][1]], rel=1e-6)


def test_slip_begins_when_a_growing_pull_overcomes_spring_and_damper(stickslip):
    m, k, c, a, limit = 1.0, 8e3, 100.0, 3.0, 0.3 * GRAVITY
    w = math.sqrt(k / m)
    decay = c / (2 * m)
    wd = math.sqrt(w * w - decay * decay)
    A = a * c / k**2
    B = (decay * A - a / k) / wd

    def over(t):
        e, C, S = math.exp(-decay * t), math.cos(wd * t), math.sin(wd * t)
        x = a / k * t - a * c / k**2 + e * (A * C + B * S)
        v = a / k + e * (-decay * (A * C + B * S) + wd * (B * C - A * S))
        return k * x + c * v - limit

    run(stickslip, block(force="3*t", end=1.2))
    [slip] = [float(e["t"]) for e in table(stickslip, "events.csv") if e["kind"] == "slip"]
    assert slip == pytest.approx(root(over, 0.9, 1.1), abs=1e-9)


def test_a_ball_on_hertz_law_stays_as_long_as_the_integral_says(stickslip):
    m, k, v = 2.0, 1e6, 1.5
    result = run(stickslip, f"""
[matrices]
coordinates = ["z"]
mass = [[{m}]]
[[contact]]
gap = "z"
compliance = {{ stiffness = [[{k}]], exponent = 1.5 }}
[initial]
position = [0]
velocity = [-{v}]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 0.05
""")
    deepest = (5 / 4 * m * v**2 / k) ** 0.4
    duration = 2 * deepest / v * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9) / 2.5
    [opening] = [float(e["t"]) for e in table(stickslip, "events.csv") if e["kind"] == "open"]
    assert opening == pytest.approx(duration, rel=1e-10)
    assert result["final"]["velocity"][0] == pytest.approx(v, rel=1e-9)


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_heavy_on_light_swings_in_its_two_modes(stickslip, ratio):
    m1, m2, k1, k2 = 1.0, ratio, 1e7 * ratio, 1e6 * ratio
    z1 = -(m1 + m2) * GRAVITY / k1
    z2 = z1 - m2 * GRAVITY / k2
    T, v = 0.05, 0.01
    result = run(stickslip, f"""
[matrices]
coordinates = ["a", "b"]
mass = [[{m1}, 0], [0, {m2}]]
force = [{-m1 * GRAVITY}, {-m2 * GRAVITY}]
[[contact]]
gap = "a"
compliance = {{ stiffness = [[{k1}]] }}
[[contact]]
gap = "b - a"
compliance = {{ stiffness = [[{k2}]] }}
[initial]
position = [{z1!r}, {z2!r}]
velocity = [0, {v}]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = {T}
""")
    a11, a12, a22 = (k1 + k2) / m1, -k2 / m1, k2 / m2
    trace, det = a11 + a22, a11 * a22 + a12 * k2 / m2
    fast = 0.5 * (trace + math.sqrt(trace**2 - 4 * det))
    modes = [(-a12, a11 - l, math.sqrt(l)) for l in (det / fast, fast)]
    (p, q, w1), (r, s, w2) = modes
    c1, c2 = -r * v / (p * s - r * q), p * v / (p * s - r * q)
    b = z2 + c1 * q * math.sin(w1 * T) / w1 + c2 * s * math.sin(w2 * T) / w2
    assert result["final"]["position"][1] - z2 == pytest.approx(b - z2, abs=1e-9 * v * T)


def test_a_plate_on_four_feet_has_the_forces_of_four_springs(stickslip):
    m, k, Ma, Mb = 4.0, 5e4, 3.0, -2.0
    corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    feet = "".join(f'[[contact]]\ngap = "z + ({x})*a + ({y})*b"\ncompliance = {{ stiffness = [[{k}]] }}\n' for x, y in corners)
    z, a, b = -m * GRAVITY / (4 * k), Ma / (4 * k), Mb / (4 * k)
    result = run(stickslip, f"""
[equations]
coordinates = ["z", "a", "b"]
mass = [[{m}, 0, 0], [0, 1.3, 0], [0, 0, 1.7]]
force = [{-m * GRAVITY}, {Ma}, {Mb}]
{feet}
[initial]
position = [{z!r}, {a!r}, {b!r}]
velocity = [0, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 1
""")
    for force, (x, y) in zip(result["final"]["reaction"], corners):
        assert force == pytest.approx(-k * (z + x * a + y * b), rel=1e-10)


@pytest.mark.parametrize("integrator", ["explicit", "stiff"])
def test_a_damped_normal_lets_go_where_spring_and_damper_cancel(stickslip, integrator):
    k, c, v = 1e4, 20.0, 1.0
    decay, wd = c / 2, math.sqrt(k - c * c / 4)
    z = lambda t: -v / wd * math.exp(-decay * t) * math.sin(wd * t)
    u = lambda t: -v * math.exp(-decay * t) * (math.cos(wd * t) - decay / wd * math.sin(wd * t))
    end = root(lambda t: k * z(t) + c * u(t), 1e-4, math.pi / wd)
    result = run(stickslip, block(mu=0, weight=0.0, z=0.0, vz=-v, more=", normal_damping = 20", end=0.1, tolerance=1e-11),
                 "--set", f"run.compliant.integrator={integrator}")
    assert result["final"]["velocity"][1] == pytest.approx(u(end), abs=5e-10)
    assert result["audit"]["energy"]["value"] < 1e-9


def test_a_polygon_that_turns_with_everything_turns_the_motion(stickslip):
    ends = []
    for angle in (0, 0.3, 1.234):
        c, s = math.cos(angle), math.sin(angle)
        x, y, _ = run(stickslip, f"""
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, 0, -9.81]
[[contact]]
gap = "z"
slip = ["x", "y"]
mu = 0.3
cone = "polygon"
polygon = {{ facets = 7, circumscribed = true, angle = {angle} }}
compliance = {{ stiffness = [[1000, 0, 0], [0, 800, 0], [0, 0, 800]], damping = [[20, 0], [0, 20]] }}
[initial]
position = [0, 0, -0.005]
velocity = [{2 * c - s!r}, {2 * s + c!r}, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 1.2
""")["final"]["position"]
        ends.append((c * x + s * y, c * y - s * x))
    for x, y in ends[1:]:
        assert x == pytest.approx(ends[0][0], abs=1e-9)
        assert y == pytest.approx(ends[0][1], abs=1e-9)


def runge_kutta(rates, y, end, steps):
    h = end / steps
    n = range(len(y))
    for i in range(steps):
        t = i * h
        a = rates(t, y)
        b = rates(t + h / 2, [y[j] + h / 2 * a[j] for j in n])
        c = rates(t + h / 2, [y[j] + h / 2 * b[j] for j in n])
        d = rates(t + h, [y[j] + h * c[j] for j in n])
        y = [y[j] + h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]) for j in n]
    return y


def test_stiffness_and_damping_that_depend_on_where_the_block_is(stickslip):
    limit = 0.3 * GRAVITY

    def rates(t, y):
        x, v, d = y
        k, c = 800 * (1 + x), 20 * (1 + 0.5 * x)
        force = max(-limit, min(limit, k * d - c * v))
        return v, 3 * math.sin(8 * t) + force, (force - k * d) / c

    x, v, _ = runge_kutta(rates, [0.0, 1.0, 0.0], 1.0, 40000)
    result = run(stickslip, """
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["3*sin(8*t)", -9.81]
[[contact]]
gap = "z"
slip = ["x"]
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, "800*(1 + x)"]], damping = [["20*(1 + 0.5*x)"]] }
[initial]
position = [0, -0.00981]
velocity = [1, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 1
""")
    assert result["final"]["position"][0] == pytest.approx(x, abs=1e-8)
    assert result["final"]["velocity"][0] == pytest.approx(v, abs=1e-8)


def test_the_end_time_of_a_sliding_block_is_found(stickslip):
    v, mu = 2.0, 0.3
    stickslip.write("m.toml", block(v=v, c=180.0, end=0.5, tolerance=1e-11) + """
[shoot]
unknowns = [{ name = "T", key = "run.end_time", start = 0.1 }]
conditions = ["x - 0.4"]
""")
    result = stickslip.json("shoot", "m.toml")
    assert result["unknowns"]["T"] == pytest.approx((v - math.sqrt(v * v - 0.8 * mu * GRAVITY)) / (mu * GRAVITY), abs=1e-10)


def test_friction_and_stiffness_from_measured_forces(stickslip):
    text = block(force="3*sin(8*t)", mu='"mu"', kn='"k"', v=1.0, z=0.002, row=0.02, head="[parameters]\nmu = 0.3\nk = 1e4")
    run(stickslip, text)
    rows = table(stickslip, "trajectory.csv")[1:]
    columns = ["t", "r_c_n", "r_c_t1"]
    stickslip.write("forces.csv", "\n".join([",".join(columns)] + [",".join(row[c] for c in columns) for row in rows]) + "\n")
    stickslip.write("fit.toml", text + """
[fit]
unknowns = [{ name = "mu", key = "parameters.mu", start = 0.25 }, { name = "k", key = "parameters.k", start = 11000 }]
""")
    result = stickslip.json("fit", "fit.toml", "forces.csv")
    assert result["status"] == "success"
    assert result["unknowns"]["mu"] == pytest.approx(0.3, abs=1e-9)
    assert result["unknowns"]["k"] == pytest.approx(1e4, rel=1e-9)


def slider(way):
    return f"""
[parameters]
tp = 1.0
mu = 0.3
V = 0.1
kp = 50.0
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["kp*({way} - x)", -9.81]
[[contact]]
name = "c"
gap = "z"
slip = ["x"]
mu = "mu"
compliance = {{ stiffness = [[1000, 0], [0, 800]], damping = 20 }}
[initial]
position = [0, -0.00981]
velocity = [0, 0]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 1.5
output_step = 0.1
[run.compliant]
quasistatic = true
"""


SHOTS = [
    ('{ name = "V", key = "parameters.V", start = 0.1 }', '"x - 0.2"', "end_time = 1.5", {"V": (0.2 + 0.3 * GRAVITY / 50) / 1.5}),
    ('{ name = "T", key = "run.end_time", start = 1.0 }', '"x - 0.2"', "", {"T": (0.2 + 0.3 * GRAVITY / 50) / 0.1}),
    ('{ name = "mu", key = "parameters.mu", start = 0.2 }, { name = "V", key = "parameters.V", start = 0.1 }',
     '"x - 0.2", { at = 0.9, value = "x - 0.09" }', "end_time = 1.5",
     {"V": 0.11 / 0.6, "mu": (0.11 / 0.6 * 1.5 - 0.2) * 50 / GRAVITY}),
]


@pytest.mark.parametrize("unknowns, conditions, end, expected", SHOTS, ids=["speed", "end time", "friction and speed"])
def test_quasistatic_motion_is_shot_to_its_target(stickslip, unknowns, conditions, end, expected):
    stickslip.write("m.toml", slider("V*t") + f"\n[shoot]\nunknowns = [{unknowns}]\nconditions = [{conditions}]\n{end}\n")
    result = stickslip.json("shoot", "m.toml")
    for name, value in expected.items():
        assert result["unknowns"][name] == pytest.approx(value, rel=1e-9), name


def test_quasistatic_friction_is_found_from_positions(stickslip):
    run(stickslip, slider("V*t"))
    rows = table(stickslip, "trajectory.csv")[1:]
    stickslip.write("x.csv", "t,x\n" + "".join(f"{row['t']},{row['x']}\n" for row in rows))
    stickslip.write("fit.toml", slider("V*t") + """
[fit]
unknowns = [{ name = "mu", key = "parameters.mu", start = 0.2 }, { name = "V", key = "parameters.V", start = 0.12 }]
""")
    result = stickslip.json("fit", "fit.toml", "x.csv")
    assert result["unknowns"]["mu"] == pytest.approx(0.3, rel=1e-8)
    assert result["unknowns"]["V"] == pytest.approx(0.1, rel=1e-8)


# A drive that stops at tp, while the slider slips, while it sticks, and one that changes its speed: derivatives by tp.
STOPS = {"slipping": ("V*if(t < tp, t, tp)", 1.0, 1.5), "sticking": ("V*if(t < tp, t, tp)", 0.3, 0.35),
         "slower": ("V*if(t < tp, t, tp + 0.5*(t - tp))", 1.0, 1.5), "jump": ("if(t < tp, V*t, 0.5*V*t)", 1.0, 1.5)}


@pytest.mark.parametrize("way, tp, end", STOPS.values(), ids=STOPS.keys())
def test_quasistatic_derivatives_follow_a_breakpoint_that_the_unknown_moves(stickslip, way, tp, end):
    def final(at, *more):
        return run(stickslip, slider(way), "--set", f"parameters.tp={at!r}", "--set", f"run.end_time={end}", "--set", f"run.output_step={end / 2!r}", *more)["final"]

    d = 1e-4
    less, more = final(tp - d), final(tp + d)
    final(tp, "--set", 'run.sensitivities=["parameters.tp"]')
    last = table(stickslip, "trajectory.csv")[-1]
    for column, key, i in (("x", "position", 0), ("v_x", "velocity", 0)):
        difference = (more[key][i] - less[key][i]) / (2 * d)
        assert float(last[f"d_{column}_parameters.tp"]) == pytest.approx(difference, abs=2e-6), column
    if way == STOPS["slipping"][0] and tp == 1.0:
        assert float(last["d_x_parameters.tp"]) == pytest.approx(0.1, abs=1e-8)


def test_quasistatic_reactions_have_the_derivatives_of_the_closed_form(stickslip):
    """Means over a row: r = -mu N in slip, by mu -N; before the slip at t* the limit does not count, so that one row over
    all has -N (T - t*)/T. The spring says r = -kp (V t - x), of which the mean over a row in slip is 0 by kp."""
    text = slider("V*t") + 'sensitivities = ["parameters.mu", "parameters.kp"]\n'
    text = text.replace("[run.compliant]\nquasistatic = true\n", "").replace("output_step = 0.1", "output_step = 0.1\ncompliant.quasistatic = true")
    run(stickslip, text)
    rows = table(stickslip, "trajectory.csv")[1:]
    for row in rows:
        slips = float(row["t"]) > 0.75
        if slips or float(row["t"]) < 0.61:
            assert float(row["d_r_c_t1_parameters.mu"]) == pytest.approx(-GRAVITY if slips else 0, abs=1e-8), row["t"]
        if slips:
            assert float(row["d_r_c_t1_parameters.kp"]) == pytest.approx(0, abs=1e-8)
        assert float(row["d_r_c_n_parameters.mu"]) == pytest.approx(0, abs=1e-8)
    k, c, kp, V, T = 800, 20, 50, 0.1, 1.5
    run(stickslip, text, "--set", f"run.output_step={T}")
    last = table(stickslip, "trajectory.csv")[-1]
    assert float(last["d_r_c_t1_parameters.mu"]) == pytest.approx(-GRAVITY * (T - slip_time(k, c, kp, V, 0.3 * GRAVITY)) / T, rel=1e-7)


# A tray on four feet that is pushed off its centre: two feet slip, then all. Its derivatives at a coarse tolerance are those of a fine one.
TRAY = """
[parameters]
m = 2.0
kp = 400
d = 0.04
[equations]
coordinates = ["x", "y", "phi", "z"]
mass = [["m", 0, 0, 0], [0, "m", 0, 0], [0, 0, 0.05, 0], [0, 0, 0, "m"]]
force = ["kp*(0.02*t - x + d*sin(phi))", 0, "-d*cos(phi)*kp*(0.02*t - x + d*sin(phi))", "-9.81*m"]
""" + "".join(f"""
[[contact]]
name = "{name}"
gap = "z"
slip = ["x + {a}*cos(phi) - {b}*sin(phi)", "y + {a}*sin(phi) + {b}*cos(phi)"]
mu = 0.4
compliance = {{ stiffness = 20000, damping = 200 }}
""" for name, a, b in (("fl", 0.15, 0.1), ("fr", 0.15, -0.1), ("rl", -0.15, 0.1), ("rr", -0.15, -0.1))) + """
[initial]
position = [0, 0, 0, -0.00024525]
[run]
scheme = "compliant"
tolerance = 1e-8
end_time = 2
output_step = 0.5
compliant.quasistatic = true
"""


def test_quasistatic_derivatives_of_a_tray_hold_at_a_coarse_tolerance(stickslip):
    def last(*more):
        run(stickslip, TRAY, *more)
        return table(stickslip, "trajectory.csv")[-1]

    d = 0.02
    less, more = (last("--set", f"parameters.kp={400 + way!r}", "--set", "run.tolerance=1e-11") for way in (-d, d))
    row = last("--set", 'run.sensitivities=["parameters.kp"]')
    for column in ("x", "y", "phi", "r_fl_t1", "r_rr_t2"):
        difference = (float(more[column]) - float(less[column])) / (2 * d)
        assert float(row[f"d_{column}_parameters.kp"]) == pytest.approx(difference, rel=1e-4), column


def slip_time(k, c, kp, V, limit):
    """Stick: (k + kp) x + c x' = kp V t; slip begins where the pull kp (V t - x) is the limit."""
    a, b = kp * V / (k + kp), c / (k + kp)
    low, high = 0.0, 2 * (k + kp) * limit / (k * kp * V)
    for _ in range(200):
        middle = 0.5 * (low + high)
        pull = kp * (V * middle + a * b * -math.expm1(-middle / b) - a * middle)
        low, high = (low, middle) if pull > limit else (middle, high)
    return low


SLIDER_IN_UNITS = """
[matrices]
coordinates = ["x", "z"]
mass = {{ diagonal = {m!r} }}
force = ["{kp!r}*({V!r}*t - x)", {weight!r}]
[[contact]]
name = "c"
gap = "z"
slip = "x"
mu = 0.3
compliance = {{ stiffness = [[{kn!r}, 0], [0, {k!r}]], damping = {c!r} }}
[initial]
position = [0, {z!r}]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = {T!r}
output_times = [{T!r}]
compliant.quasistatic = true
"""


@pytest.mark.parametrize("damping", [20, 2e-4])
@pytest.mark.parametrize("L, M, s", [(1, 1, 1), (1, 1e6, 1e-6), (1e6, 1e-6, 1e3), (1e-6, 1, 1e3), (1e3, 1e6, 1e-3)])
def test_quasistatic_slip_begins_in_time_whatever_the_units_and_the_damper(stickslip, L, M, s, damping):
    """A step over all of the run, and dampers that relax in 1e-2 and 1e-7 of it."""
    force = M * L / s**2
    k, kn, kp, c, V = 800 * M / s**2, 1000 * M / s**2, 50 * M / s**2, damping * M / s, 0.1 * L / s
    run(stickslip, SLIDER_IN_UNITS.format(m=1.0 * M, kp=kp, V=V, weight=-GRAVITY * force, kn=kn, k=k, c=c, z=-GRAVITY / 1000 * L, T=2.0 * s))
    events = table(stickslip, "events.csv")
    assert [event["kind"] for event in events] == ["slip"]
    assert float(events[0]["t"]) == pytest.approx(slip_time(k, c, kp, V, 0.3 * GRAVITY * force), rel=1e-7)
    last = table(stickslip, "trajectory.csv")[-1]
    assert float(last["x"]) == pytest.approx((0.2 - 0.3 * GRAVITY / 50) * L, rel=1e-8)


def test_quasistatic_motion_starts_where_surfaces_just_touch(stickslip):
    rest, touching = (run(stickslip, slider("V*t"), "--set", f"initial.position=[0, {z}]")["final"] for z in (-0.00981, 0))
    assert touching["position"] == pytest.approx(rest["position"], rel=1e-8)


def test_quasistatic_motion_without_load_follows_its_drive(stickslip):
    text = slider("V*t").replace("-9.81]", "0]").replace("position = [0, -0.00981]", "position = [0, 0]")
    result = run(stickslip, text)
    assert result["status"] == "success"
    assert result["final"]["position"] == pytest.approx([0.15, 0], rel=1e-9, abs=1e-15)
    assert result["audit"]["energy"]["value"] < 1e-9


# Two contacts side by side stick at one instant whatever the unknowns are: the velocity is 0 there.
PARALLEL = """
[parameters]
mu2 = 0.45
A = 0.06
[matrices]
coordinates = ["x", "z"]
mass = { diagonal = 1 }
stiffness = [[400, 0], [0, 0]]
damping = [[1, 0], [0, 0]]
force = ["300*A*sin(2*t)", -20]
[[contact]]
name = "a"
gap = "z"
slip = "x"
mu = 0.2
compliance = { stiffness = [[1000, 0], [0, 800]], damping = 5 }
[[contact]]
name = "b"
gap = "z"
slip = "x"
mu = "mu2"
compliance = { stiffness = [[1000, 0], [0, 500]], damping = 3 }
[initial]
position = [0, -0.01]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 2
output_times = [0.7, 1.0, 2.0]
compliant.quasistatic = true
"""

# One contact whose section is a hexagon: its force leaves a facet for a vertex.
HEXAGON = """
[parameters]
mu = 0.3
[matrices]
coordinates = ["x", "y", "z"]
mass = { diagonal = 1 }
force = ["50*(0.2*sin(1.5*t) - x)", "50*(0.1*min(t, 1.3) - y)", "-9.81"]
[[contact]]
name = "f"
gap = "z"
slip = ["x", "y"]
cone = "polygon"
facets = 6
mu = "mu"
compliance = { stiffness = [[1000, 20, 30], [20, 800, 50], [30, 50, 700]], damping = [[20, 3], [3, 15]] }
[initial]
position = [0, 0, -0.00981]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 2.5
output_times = [1.0, 1.6, 2.1, 2.5]
compliant.quasistatic = true
"""


@pytest.mark.parametrize("text, name, value", [(PARALLEL, "mu2", 0.45), (PARALLEL, "A", 0.06), (HEXAGON, "mu", 0.3)])
def test_quasistatic_derivatives_exist_where_the_order_of_changes_does_not_count(stickslip, text, name, value):
    d = 1e-5 * value
    beside = []
    for way in (d, -d):
        run(stickslip, text, "--set", f"parameters.{name}={value + way!r}", "--set", "run.tolerance=1e-11")
        beside.append(table(stickslip, "trajectory.csv"))
    run(stickslip, text, "--set", f'run.sensitivities=["parameters.{name}"]')
    for row, up, down in zip(table(stickslip, "trajectory.csv"), *beside):
        for column in [key for key in row if key == "x" or key == "y" or key.startswith("r_") and "_t" in key]:
            difference = (float(up[column]) - float(down[column])) / (2 * d)
            assert float(row[f"d_{column}_parameters.{name}"]) == pytest.approx(difference, rel=2e-6, abs=2e-6), (row["t"], column)


PAPER = """
[matrices]
coordinates = ["px", "py", "pz"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, 0, -9.81]
[[contact]]
gap = "pz"
slip = ["px", "py"]
mu = 0.3
compliance = { stiffness = [[1000, 100, 50], [100, 800, 30], [50, 30, 700]], damping = [[20, 0], [0, 20]] }
[initial]
position = START
velocity = SPEED
[run]
scheme = "compliant"
end_time = END
"""
TWO = """
[equations]
coordinates = ["x", "z", "theta"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.113333333333333]]
force = [0, -9.81, 0]
[[contact]]
gap = "z - 0.5*sin(theta) - 0.3*cos(theta)"
slip = ["x - 0.5*cos(theta) + 0.3*sin(theta)"]
mu = 0.3
[[contact]]
gap = "z + 0.5*sin(theta) - 0.3*cos(theta)"
slip = ["x + 0.5*cos(theta) + 0.3*sin(theta)"]
mu = 0.3
[compliance]
stiffness = [[2000, 300, 200, 0], [300, 2000, 0, -150], [200, 0, 1500, 100], [0, -150, 100, 1500]]
damping = [[30, 5], [5, 30]]
[initial]
position = [0, 0.4, 0.1]
velocity = [1.5, 0, 0]
[run]
scheme = "compliant"
end_time = 1
"""
SHEET = {"slide": PAPER.replace("START", "[0, 0, -0.00981]").replace("SPEED", "[2, 1, 0]").replace("END", "1.5"),
         "drop": PAPER.replace("START", "[0, 0, 0.05]").replace("SPEED", "[1, 0.5, 0]").replace("END", "1"), "two contacts": TWO}
KINK_ERROR = 50  # tolerances, of errors at the end of a run that steps over switches with the implicit method


@pytest.mark.parametrize("text", SHEET.values(), ids=SHEET.keys())
def test_the_implicit_method_follows_its_tolerance_over_switches(stickslip, text):
    def state(integrator, tolerance):
        final = run(stickslip, text, "--set", f"run.compliant.integrator={integrator}", "--set", f"run.tolerance={tolerance}")["final"]
        return final["position"] + final["velocity"]

    exact = state("explicit", 1e-13)
    for tolerance in (1e-6, 1e-8, 1e-10):
        error = max(abs(a - b) for a, b in zip(state("stiff", tolerance), exact))
        assert error <= KINK_ERROR * tolerance, tolerance


def slides_to_rest(v, mu, k, t):
    """Mass 1 on a tangential spring without damper, from rest of the spring: position and velocity until it swings back half way."""
    limit, rate = mu * GRAVITY, math.sqrt(k)
    begin = math.asin(limit / (v * rate)) / rate  # elastic: x = v/rate sin(rate t), slips where k x is the limit
    x, speed = limit / k, v * math.cos(rate * begin)
    end = begin + speed / limit
    if t < end:
        return x + speed * (t - begin) - 0.5 * limit * (t - begin) ** 2, speed - limit * (t - begin)
    swing, way = rate * (t - end), limit / k
    return x + 0.5 * speed**2 / limit - way * (1 - math.cos(swing)), -way * rate * math.sin(swing)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("part", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("integrator", ["automatic", "stiff"])
def test_a_damper_that_is_hardly_there_leaves_the_motion_without_it(stickslip, part, tolerance, integrator):
    v, end = 1.0, 0.36
    result = run(stickslip, block(v=v, c=part * math.sqrt(8e3), tolerance=tolerance, end=end, row=0.003),
                 "--set", f"run.compliant.integrator={integrator}")
    x, speed = slides_to_rest(v, 0.3, 8e3, end)
    assert result["events"]["slip"] == 1 and result["events"]["stick"] == 1
    assert result["final"]["position"][0] == pytest.approx(x, abs=20 * tolerance + 0.1 * part)
    assert result["final"]["velocity"][0] == pytest.approx(speed, abs=200 * tolerance + 10 * part)


def test_a_wrong_motion_does_not_hide_beside_a_large_energy(stickslip):
    text = block(v=1.0, c=1e-8 * math.sqrt(8e3), tolerance=1e-9, end=0.36)
    text = text.replace('["x", "z"]', '["x", "z", "far"]').replace("mass = [[1.0, 0], [0, 1.0]]", "mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]")
    text = text.replace('force = ["0", -9.81]', "force = [0, -9.81, 0]").replace("velocity = [1.0, 0.0]", "velocity = [1.0, 0.0, 1e5]")
    text = text.replace(f"position = [0, {-GRAVITY / 1e4!r}]", f"position = [0, {-GRAVITY / 1e4!r}, 0]")
    result = run(stickslip, text)
    assert result["final"]["position"][0] == pytest.approx(slides_to_rest(1.0, 0.3, 8e3, 0.36)[0], abs=1e-7)


@pytest.mark.parametrize("integrator", ["explicit", "stiff", "rk4"])
def test_the_deepest_penetration_is_found_between_steps(stickslip, integrator):
    kn, vz = 1e4, -0.5
    result = run(stickslip, block(mu=0, kn=kn, z=0.0, vz=vz, end=0.05, row=0.05, tolerance=1e-7),
                 "--set", f"run.compliant.integrator={integrator}", "--set", "run.step=0.001")
    sag = GRAVITY / kn
    assert result["audit"]["penetration"]["value"] == pytest.approx(sag + math.hypot(sag, vz / math.sqrt(kn)), rel=2e-5)


@pytest.mark.parametrize("T", [1, 1e6, 1e-6])
@pytest.mark.parametrize("rate", [3, 300])
def test_energy_balances_where_stiffness_depends_on_time(stickslip, T, rate):
    text = block(mu=0, weight=-GRAVITY / T**2, kn=5000 / T**2, kt=5000 / T**2, c=100 / T, z=-1.962e-3, end=T, row=0.1 * T, tolerance=1e-9)
    text = text.replace(f"[[{5000 / T**2}, 0]", f'[["{5000 / T**2!r}*(1 + 0.5*sin({rate / T!r}*t))", 0]')
    assert "sin(" in text
    assert run(stickslip, text)["audit"]["energy"]["value"] < 1e-8


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("integrator", ["explicit", "stiff"])
def test_derivatives_of_what_a_contact_holds_are_exact_too(stickslip, tolerance, integrator):
    k, force = 1e5, 200.0
    run(stickslip, f"""
[parameters]
F = {force}
[matrices]
coordinates = ["phi", "z"]
angles = ["phi"]
mass = [[0.05, 0], [0, 0.3]]
force = [0, "-F"]
[[contact]]
name = "pad"
gap = "z"
slip = "0.12*phi"
mu = 0.4
compliance = {{ stiffness = [[{k}, 0], [0, 5e5]], damping = 500 }}
[initial]
position = [0, "-F/{k}"]
velocity = [100, 0]
[run]
scheme = "compliant"
end_time = 4
output_step = 0.02
tolerance = {tolerance}
sensitivities = ["parameters.F"]
""", "--set", f"run.compliant.integrator={integrator}")
    for row in table(stickslip, "trajectory.csv"):
        assert float(row["d_z_parameters.F"]) == pytest.approx(-1 / k, rel=1e-7)
