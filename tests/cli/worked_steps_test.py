# SPDX-License-Identifier: Apache-2.0
"""docs/worked-steps.md: its formulas, its numbers and the program say the same."""
import math
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "worked-steps.md"
TEXT = PAGE.read_text()
MODELS = re.findall(r"```toml\n(.*?)```", TEXT, re.S)

h, k, c, x0 = 0.1, 4.0, 0.5, 0.1


def run(stickslip, model, *arguments):
    return stickslip.json("run", stickslip.write("model.toml", model), "--out", "out", *arguments)["final"]


def on_page(value, digits=7):
    """The page holds the number, rounded."""
    assert f"{value:.{digits}f}" in TEXT, f"{value:.{digits}f} is not on the page"


def sliding_step(v0):
    A = 1 + h * h * k / 4
    g = v0 - h * k * (x0 + h * v0 / 4) + 2 * (1 - math.cos(h))
    return A, g


def test_moreau_sliding_step(stickslip):
    A, g = sliding_step(0.2)
    v1 = (g - h * c) / A
    x1 = x0 + h * (0.2 + v1) / 2
    final = run(stickslip, MODELS[0])
    assert final["velocity"][0] == pytest.approx(v1, rel=1e-14)
    assert final["position"][0] == pytest.approx(x1, rel=1e-14)
    for value in (2 * (1 - math.cos(h)) / h, g, v1, x1):
        on_page(value)


def stop_of_the_step():
    v0 = 0.02

    def psi(x):
        return v0 - x * k * (x0 + x * v0 / 4) + 2 * (1 - math.cos(x)) - c * x

    low, high = 0.0, h
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if psi(middle) > 0 else (low, middle)
    return low


def test_moreau_step_that_stops(stickslip):
    x = stop_of_the_step()
    final = run(stickslip, MODELS[0], "--set", "initial.velocity=[0.02]")
    assert final["velocity"] == [0.0]
    assert final["position"][0] == pytest.approx(x0 + x * 0.02 / 2, rel=1e-13)
    on_page(sliding_step(0.02)[1])
    on_page(x)
    on_page(x0 + x * 0.02 / 2)
    unsplit = run(stickslip, MODELS[0], "--set", "initial.velocity=[0.02]", "--set",
                  "run.moreau.locate_reversals=false")
    on_page(unsplit["position"][0])


def test_splitting_step(stickslip):
    half = 0.2 + h * 2 * math.sin(h) - h * c
    middle = (half - h * k * x0 / 2) / (1 + h * h * k / 4)
    final = run(stickslip, MODELS[0], "--scheme", "splitting")
    assert final["position"][0] == pytest.approx(x0 + h * middle, rel=1e-14)
    assert final["velocity"][0] == pytest.approx(2 * middle - half, rel=1e-13)
    for value in (half, middle, x0 + h * middle, 2 * middle - half):
        on_page(value)


def motion(t, v0, sign):
    """x'' = 2 sin t - 4 x - sign c from (0.1, v0): the closed form."""
    # particular: (2/3) sin t - sign c/4; homogeneous: a cos 2t + b sin 2t
    a, b = x0 + sign * c / 4, (v0 - 2 / 3) / 2
    x = a * math.cos(2 * t) + b * math.sin(2 * t) + 2 / 3 * math.sin(t) - sign * c / 4
    v = -2 * a * math.sin(2 * t) + 2 * b * math.cos(2 * t) + 2 / 3 * math.cos(t)
    return x, v


def test_event_stop_and_decision(stickslip):
    low, high = 0.0, h
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if motion(middle, 0.02, 1)[1] > 0 else (low, middle)
    x = motion(low, 0.02, 1)[0]
    final = run(stickslip, MODELS[0], "--scheme", "event", "--set", "initial.velocity=[0.02]")
    assert final["position"][0] == pytest.approx(x, rel=1e-14)
    assert final["modes"] == ["stick"]
    needed = 4 * x - 2 * math.sin(low)
    for value in (low, x, needed, needed - 0.3):
        on_page(value)


def test_exact_sliding_motion(stickslip):
    x, v = motion(h, 0.2, 1)
    for scheme in ("event", "viscoelastic"):
        final = run(stickslip, MODELS[0], "--scheme", scheme)
        assert final["position"][0] == pytest.approx(x, rel=1e-10)
        assert final["velocity"][0] == pytest.approx(v, rel=1e-9)
    on_page(x)
    on_page(v)


@pytest.mark.parametrize("v0, added", [((1, 0), 0.0), ((1, -2), -1.0)])
def test_contact_step(stickslip, v0, added):
    m, mu, g, step = 2.0, 0.3, 9.81, 0.01
    free = v0[1] - g * step
    p = -m * (free + added)
    final = run(stickslip, MODELS[1], "--set", f"initial.velocity=[{v0[0]},{v0[1]}]")
    assert final["velocity"][1] == pytest.approx(free + p / m, abs=1e-15)
    assert final["velocity"][0] == pytest.approx(v0[0] - mu * p / m, rel=1e-13)
    on_page(p, 4)
    on_page(mu * p, 5)
    on_page(v0[0] - mu * p / m, 5)
