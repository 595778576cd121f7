# SPDX-License-Identifier: Apache-2.0
"""The animation of the interactive page, in a real browser: with WebGL (drawn by software) and without.

STICKSLIP_REPORT_TEMPLATE names the built template (node report/build.mjs OUTPUT.html).
"""

import math
import os
import time
from pathlib import Path

import pytest

import scene_samples as samples
from headless_chromium import Page, find_chromium

TEMPLATE = os.environ.get("STICKSLIP_REPORT_TEMPLATE")
pytestmark = pytest.mark.skipif(not TEMPLATE, reason="STICKSLIP_REPORT_TEMPLATE does not name the built template")
SHIFT = 8


def browser_with(webgl):
    if not find_chromium():
        pytest.skip("chromium is not installed: the page cannot be drawn")
    return Page(timeout=900, webgl=webgl)  # software rendering on a busy machine takes seconds per picture


@pytest.fixture(scope="module")
def solid_browser():
    page = browser_with(True)
    yield page
    page.close()


@pytest.fixture(scope="module")
def flat_browser():
    page = browser_with(False)
    yield page
    page.close()


def opened(browser, folder, content, width=700, height=800, **how):
    path = folder / "scene.html"
    samples.write_page(TEMPLATE, path, content)
    browser.emulate(width, height, **how)
    browser.open(path)
    assert errors(browser) == "" and browser.complaints == []
    return browser


@pytest.fixture
def show_solid(solid_browser, tmp_path):
    return lambda content, **how: opened(solid_browser, tmp_path, content, **how)


@pytest.fixture
def show_flat(flat_browser, tmp_path):
    return lambda content, **how: opened(flat_browser, tmp_path, content, **how)


# ---- documents


def ball_document():
    times, height, block = samples.bouncing_ball()
    return samples.document(block, samples.curve("Height", times, height))


def planar_document():
    times, height, block = samples.woodpecker()
    return samples.document(block, samples.curve("Height", times, height, name="y"))


# ---- helpers


def errors(page):
    return page.evaluate("document.documentElement.dataset.errors")


def state(page, index=0):
    return page.evaluate(f"window.stickslip.plot({index}).state()")


def set_time(page, t):
    page.evaluate(f"window.stickslip.plot(0).set_time({t})")
    page.frame()


def colour_at(page, x, y):
    """Red, green, blue of the picture at a point given in its CSS pixels."""
    return page.evaluate(
        f"""(() => {{ const s = window.stickslip.plot(0), k = s.canvas.width / s.camera.width;
        return Array.from(s.canvas.getContext('2d').getImageData({x} * k, {y} * k, 1, 1).data).slice(0, 3); }})()"""
    )


def seen_at(page, point):
    """Where a point of the world is in the picture."""
    return page.evaluate(f"window.stickslip.plot(0).camera.project({point}).slice(0, 2)")


def is_blue(colour):
    return colour[2] > colour[0] + 60


def share_of_ink(page):
    """Share of the pixels that differ from the corner's."""
    return page.evaluate(
        """(() => { const c = window.stickslip.plot(0).canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 0; i < d.length; i += 4) if (Math.abs(d[i] - d[4]) + Math.abs(d[i + 1] - d[5]) + Math.abs(d[i + 2] - d[6]) > 60) n++;
        return n / (d.length / 4); })()"""
    )


def canvas_place(page):
    page.evaluate("window.stickslip.plot(0).canvas.scrollIntoView({block: 'center'})")
    page.frame()
    return page.evaluate("(r => [r.left, r.top, r.width, r.height])(window.stickslip.plot(0).canvas.getBoundingClientRect())")


def press(page, key, modifiers=0):
    page.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "", modifiers=modifiers)
    page.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)
    page.frame()


# ---- solids


def test_solids_are_drawn_where_the_data_puts_them_and_nothing_is_requested(show_solid):
    page = show_solid(ball_document())
    assert state(page)["painter"] == "solid"
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    for t in (0, 0.8, 2):
        set_time(page, t)
        height, _ = samples.bounces(t, 1.0, 0.8)
        x, y = seen_at(page, [0.45 * t - 0.9, 0, 0.1 + height])
        assert is_blue(colour_at(page, x, y)), t
    set_time(page, 2)
    x, y = seen_at(page, [-0.9, 0, 1.1])
    assert not is_blue(colour_at(page, x, y))  # it has left


def test_shapes_springs_and_forces_of_every_kind_are_drawn(show_solid):
    page = show_solid(samples.document(samples.box_stack()[1]))
    assert state(page)["painter"] == "solid"
    assert 0.05 < share_of_ink(page) < 0.9
    purple = seen_at(page, [-0.7, 0.6, 0.1])
    r, g, b = colour_at(page, *purple)
    assert b > g and r > g  # the hull has its own colour
    with_forces = share_of_ink(page)
    page.evaluate("(() => { const s = window.stickslip.plot(0); s.show.forces = false; s.draw(); })()")
    assert share_of_ink(page) < with_forces


def test_the_first_view_holds_the_bodies_and_not_the_endless_plane(show_solid):
    page = show_solid(ball_document())
    corners = page.evaluate(
        """(() => { const { camera, data } = window.stickslip.plot(0), { low, high } = data.bounds, out = [];
        for (let k = 0; k < 8; k++) { const p = camera.project([0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i]))); out.push([p[0] / camera.width, p[1] / camera.height]); }
        return out; })()"""
    )
    flat = [c for corner in corners for c in corner]
    assert 0 < min(flat) and max(flat) < 1
    widest = max(max(c[i] for c in corners) - min(c[i] for c in corners) for i in (0, 1))
    assert widest > 0.6


def test_a_thousand_spheres_in_five_hundred_frames_are_usable(show_solid):
    page = show_solid(samples.document(samples.many_spheres()[1]))  # a frozen page never gets ready
    assert state(page)["bodies"] == 1001 and state(page)["frames"] == 500
    calls = page.evaluate("(() => { const s = window.stickslip.plot(0); s.set_time(5); s.draw(); return s.painter.renderer.info.render.calls; })()")
    assert calls < 20  # instanced: not one call per body
    assert share_of_ink(page) > 0.03
    # Poses of a thousand bodies against as many roots, the best of twenty each: other load on the machine slows both.
    poses, roots = page.evaluate("""(() => {
      const s = window.stickslip.plot(0), best = work => Math.min(...Array.from({length: 20}, (_, i) => {
        const t = performance.now(); work(i); return performance.now() - t; }));
      let sum = 0;
      return [best(i => s.data.set_time(0.3 * i)), best(i => { for (let k = 0; k < 1e6; k++) sum += Math.sqrt(k + i); })];
    })()""")
    assert poses < 20 * max(roots, 0.1)


def test_slow_graphics_give_up_shadows_and_then_the_solid_look(show_solid):
    page = show_solid(ball_document())
    page.evaluate("(() => { const s = window.stickslip.plot(0); for (let i = 0; i < 12; i++) s.watch_speed(0.05); })()")
    assert state(page)["painter"] == "solid" and page.evaluate("window.stickslip.plot(0).painter.sun.castShadow")
    page.evaluate("(() => { const s = window.stickslip.plot(0); for (let i = 0; i < 40; i++) s.watch_speed(0.9); })()")
    page.frame()
    assert state(page)["painter"] == "flat"
    assert "slow" in page.evaluate("document.querySelector('.scene').innerText")


def test_dragging_turns_shift_dragging_moves_and_reset_returns(show_solid):
    page = show_solid(ball_document())
    first = page.evaluate("(s => [s.camera.azimuth, s.camera.elevation, s.camera.offset])(window.stickslip.plot(0))")
    left, top, width, height = canvas_place(page)
    x, y = left + 0.5 * width, top + 0.3 * height
    page.drag(x, y, x + 60, y + 20)
    turned = page.evaluate("(s => [s.camera.azimuth, s.camera.elevation, s.camera.offset])(window.stickslip.plot(0))")
    assert turned[0] != first[0] and turned[1] > first[1] and turned[2] == first[2]
    page.drag(x, y, x + 60, y, modifiers=SHIFT)
    moved = page.evaluate("(s => [s.camera.azimuth, s.camera.elevation, s.camera.offset])(window.stickslip.plot(0))")
    assert moved[0] == turned[0] and moved[2] != turned[2]
    page.evaluate("[...document.querySelectorAll('.scene .tool')].find(b => b.textContent === 'Reset').click()")
    page.frame()
    assert page.evaluate("(s => [s.camera.azimuth, s.camera.elevation, s.camera.offset])(window.stickslip.plot(0))") == first


def test_two_solid_scenes_share_one_context_and_are_both_drawn(show_solid):
    _, _, ball = samples.bouncing_ball()
    page = show_solid(samples.document(ball, {**samples.one_frame(), "link": "other"}))
    assert page.evaluate("window.stickslip.plot(0).painter.renderer === window.stickslip.plot(1).painter.renderer")
    for k in (0, 1):
        x, y = page.evaluate(f"(s => (s.draw(), s.camera.project(s.data.bodies[1].pose.p).slice(0, 2)))(window.stickslip.plot({k}))")
        colour = page.evaluate(f"(s => Array.from(s.canvas.getContext('2d').getImageData({x} * s.canvas.width / s.camera.width, {y} * s.canvas.height / s.camera.height, 1, 1).data))(window.stickslip.plot({k}))")
        assert is_blue(colour)


# ---- time


def test_play_runs_in_real_time_and_pause_stops(show_flat):
    page = show_flat(ball_document())
    assert state(page)["speed"] == 1
    page.evaluate("document.querySelector('.play').click()")
    start = time.monotonic()
    page.wait_for("window.stickslip.plot(0).t > 1")
    passed = time.monotonic() - start
    assert passed > 0.8  # never faster than real time; slower only where pictures are late
    page.evaluate("document.querySelector('.play').click()")
    page.frame()
    stopped = state(page)["time"]
    assert not state(page)["playing"]
    page.frame()
    assert state(page)["time"] == stopped


def test_play_ends_at_the_end_and_starts_again(show_flat):
    page = show_flat(planar_document())
    page.evaluate("(s => { s.set_time(2.95); s.play(); })(window.stickslip.plot(0))")
    page.wait_for("!window.stickslip.plot(0).playing")
    assert state(page)["time"] == pytest.approx(3)
    page.evaluate("(s => { s.play(); })(window.stickslip.plot(0))")
    assert state(page)["time"] < 1 and state(page)["playing"]
    page.evaluate("(s => { s.pause(); s.show.loop = true; s.set_time(2.95); s.play(); })(window.stickslip.plot(0))")
    page.wait_for("window.stickslip.plot(0).t < 1")
    assert state(page)["playing"]


@pytest.mark.parametrize("duration, speed", [(0.03, 0.005), (1, 0.2), (2, 1), (60, 1), (600, 20)])
def test_runs_too_short_or_too_long_to_watch_get_another_speed(show_flat, duration, speed):
    still = samples.body("ball", [samples.shape("sphere", [0.1])], samples.packed([0, 0, 0, 1, 0, 0]))
    page = show_flat(samples.document(samples.scene("Run", [0, duration], [still])))
    assert state(page)["speed"] == speed
    assert float(page.evaluate("document.querySelector('.options select').value")) == speed


def test_slider_scrubs_and_poses_between_frames_are_between(show_flat):
    mover = samples.body("ball", [samples.shape("sphere", [0.1])], samples.packed([0, 0, 0, 1, 0, 2]), samples.packed(samples.STILL + samples.about("y", 1.0), "int16"))
    page = show_flat(samples.document(samples.scene("Run", [0, 1], [mover])))
    page.evaluate("(i => { i.value = 0.25; i.dispatchEvent(new Event('input')); })(document.querySelector('.scrub'))")
    page.frame()
    pose = page.evaluate("window.stickslip.plot(0).data.bodies[0].pose")
    assert pose["p"] == pytest.approx([0.25, 0, 0.5], abs=1e-3)  # the slider has 2000 steps
    turned = samples.about("y", 0.25)
    assert pose["R"][0] == pytest.approx(1 - 2 * turned[2] ** 2, abs=5e-3)  # chord for arc
    assert "0.25" in page.evaluate("document.querySelector('.clock').textContent")


def test_keyboard_plays_steps_and_zooms(show_flat):
    page = show_flat(planar_document())
    page.evaluate("window.stickslip.plot(0).canvas_box.focus()")
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    assert state(page)["time"] == pytest.approx(2 * 3 / 299)
    press(page, "ArrowLeft")
    assert state(page)["time"] == pytest.approx(3 / 299)
    press(page, "End")
    assert state(page)["time"] == pytest.approx(3)
    press(page, "Home")
    assert state(page)["time"] == 0
    press(page, "+")
    assert state(page)["zoom"] == pytest.approx(1.25)
    press(page, "ArrowLeft", modifiers=SHIFT)
    assert state(page)["target"][0] != pytest.approx(page.evaluate("window.stickslip.plot(0).camera.middle")[0], abs=1e-6)
    press(page, "0")
    assert state(page)["zoom"] == 1
    press(page, " ")
    assert state(page)["playing"]
    press(page, " ")
    assert not state(page)["playing"]


# ---- link


def test_cursor_of_a_linked_figure_moves_the_animation_and_the_other_way_round(show_flat):
    page = show_flat(planar_document())
    page.evaluate("window.stickslip.plot(1).u.over.scrollIntoView({block: 'center'})")
    page.frame()
    left, top, width, height = page.evaluate("(r => [r.left, r.top, r.width, r.height])(window.stickslip.plot(1).u.over.getBoundingClientRect())")
    page.evaluate("window.stickslip.plot(0).play()")
    page.mouse("mouseMoved", left + 0.5 * width, top + 0.5 * height)
    page.frame()
    assert state(page)["time"] == pytest.approx(1.5, abs=2 * 3 / width)  # two pixels
    assert not state(page)["playing"]
    page.mouse("mouseMoved", 2, 2)
    page.frame()
    assert state(page)["time"] == pytest.approx(1.5, abs=2 * 3 / width)  # it stays
    page.evaluate("window.stickslip.plot(0).set_time(0.75)")
    page.frame()
    assert state(page, 1)["cursor"] == pytest.approx(0.25 * width, abs=1.5)
    shown = float(page.evaluate("document.querySelector('.figure .legend .value').textContent"))
    assert shown == pytest.approx(0.36 - 0.02 * 3, abs=0.003)


def test_a_zoomed_window_is_what_is_played_and_scrubbed(show_flat):
    page = show_flat(planar_document())
    page.evaluate("window.stickslip.zoom(1, 1, 2)")
    page.frame()
    assert page.evaluate("(i => [Number(i.min), Number(i.max)])(document.querySelector('.scrub'))") == pytest.approx([1, 2])
    page.evaluate("(s => { s.set_time(0.2); s.play(); })(window.stickslip.plot(0))")
    page.wait_for("window.stickslip.plot(0).t > 1.02")
    page.evaluate("window.stickslip.zoom(1, 1, 1.5)")  # zooming does not stop it
    page.frame()
    assert page.evaluate("window.stickslip.plot(0).playing || window.stickslip.plot(0).t >= 1.5")
    page.wait_for("!window.stickslip.plot(0).playing")
    assert state(page)["time"] == pytest.approx(1.5, abs=1e-6)


# ---- view


def test_following_keeps_the_body_in_the_middle(show_flat):
    page = show_flat(ball_document())
    assert page.evaluate("[...document.querySelectorAll('.options select')[1].options].map(o => o.textContent)") == ["nothing", "ball"]
    page.evaluate("(c => { c.value = '1'; c.dispatchEvent(new Event('change')); })(document.querySelectorAll('.options select')[1])")
    for t in (0.3, 3):
        set_time(page, t)
        assert state(page)["target"] == pytest.approx(page.evaluate("window.stickslip.plot(0).data.bodies[1].pose.p"))
    page.evaluate("window.stickslip.plot(0).reset_view()")
    page.frame()
    assert page.evaluate("document.querySelectorAll('.options select')[1].value") == ""
    assert state(page)["target"] == pytest.approx(page.evaluate("window.stickslip.plot(0).camera.middle"))


def test_double_click_on_a_body_follows_it_and_beside_resets(show_flat):
    page = show_flat(ball_document())
    left, top, width, height = canvas_place(page)
    x, y = seen_at(page, [-0.9, 0, 1.1])
    page.double_click(left + x, top + y)
    assert page.evaluate("window.stickslip.plot(0).followed.name") == "ball"
    page.double_click(left + 5, top + 30)
    assert page.evaluate("window.stickslip.plot(0).followed") is None


def count_purple(page):
    """Pixels in the colour of hinge friction, left of the legend."""
    return page.evaluate(
        """(() => { const c = window.stickslip.plot(0).canvas, d = c.getContext('2d').getImageData(0, 0, 0.8 * c.width, c.height).data;
        let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] > d[i + 1] + 40 && d[i + 2] > d[i + 1] + 60) n++;
        return n; })()"""
    )


@pytest.mark.parametrize("how", ["flat", "solid"])
def test_hinges_are_full_while_they_stick_and_rings_while_they_slip(show_flat, show_solid, how):
    page = (show_solid if how == "solid" else show_flat)(samples.document(samples.arm()[1]))
    shoulder, slide, wrist = state(page)["hinges"]
    assert (shoulder["sticks"], slide["sticks"], wrist["sticks"]) == (True, False, None)
    assert shoulder["point"] == pytest.approx([0, 0, 1], abs=1e-6)
    assert is_blue(colour_at(page, *seen_at(page, shoulder["point"])))
    assert min(colour_at(page, *seen_at(page, slide["point"]))) > 240  # the middle of a ring on white
    set_time(page, 2.5)
    shoulder = state(page)["hinges"][0]
    assert shoulder["sticks"] is False and shoulder["force"] == pytest.approx(-1.5)
    assert min(colour_at(page, *seen_at(page, shoulder["point"]))) > 240
    assert state(page)["hinge_label"].startswith("2 N m, ") and state(page)["hinge_label"].endswith("0 N, stick, slip")
    assert count_purple(page) > 60
    page.evaluate("(s => { s.show.friction = false; s.draw(); })(window.stickslip.plot(0))")
    assert count_purple(page) == 0
    page.evaluate("(s => { s.show.hinges = false; s.draw(); })(window.stickslip.plot(0))")
    assert min(colour_at(page, *seen_at(page, shoulder["point"]))) < 240  # the post behind it


def test_pointer_tells_what_a_hinge_does(show_flat):
    page = show_flat(samples.document(samples.arm()[1]))
    set_time(page, 2.5)
    left, top, width, height = canvas_place(page)
    x, y = seen_at(page, state(page)["hinges"][0]["point"])
    page.mouse("mouseMoved", left + x, top + y)
    page.frame()
    assert page.evaluate("document.querySelector('.tip').innerText") == "shoulder.ry: slips, friction -1.5 N m"


def test_hinges_that_do_not_fit_their_frames_are_refused(show_flat, flat_browser, tmp_path):
    block = samples.arm()[1]
    block["hinges"][0]["sticks"] = "1"
    samples.write_page(TEMPLATE, tmp_path / "bad.html", samples.document(block))
    flat_browser.open(tmp_path / "bad.html")
    assert "one entry for each frame" in errors(flat_browser)


def test_pointer_tells_the_name_of_the_body_and_the_size_of_the_force(show_flat):
    page = show_flat(planar_document())
    left, top, width, height = canvas_place(page)
    x, y = seen_at(page, [0.16 + 0.02, 0.02, 0])
    page.mouse("mouseMoved", left + x, top + y)
    page.frame()
    assert "wheel" in page.evaluate("document.querySelector('.tip').innerText")
    x, y = seen_at(page, [0.16, 0.005, 0])
    page.mouse("mouseMoved", left + x, top + y)
    page.frame()
    assert page.evaluate("document.querySelector('.tip').innerText").splitlines()[:2] == ["floor", "0.25 N"]


def test_wheel_zooms_about_the_pointer_once_focused(show_flat):
    page = show_flat(planar_document())
    left, top, width, height = canvas_place(page)
    point = [0.1, 0.1, 0]
    x, y = seen_at(page, point)
    page.mouse("mouseMoved", left + x, top + y)
    page.mouse("mouseWheel", left + x, top + y, deltaX=0, deltaY=-200)
    page.frame()
    assert state(page)["zoom"] == 1  # the page scrolls instead, with a hint
    left, top, width, height = canvas_place(page)
    page.evaluate("window.stickslip.plot(0).canvas_box.focus()")
    page.mouse("mouseMoved", left + x, top + y)
    page.mouse("mouseWheel", left + x, top + y, deltaX=0, deltaY=-200)
    page.frame()
    assert state(page)["zoom"] > 1.4
    assert seen_at(page, point) == pytest.approx([x, y], abs=1.5)


# ---- planar


def test_planar_scene_is_drawn_true_to_scale_in_its_plane(show_flat):
    page = show_flat(planar_document())
    assert state(page)["painter"] == "flat" and state(page)["view"] == "xy"
    a, b, c = (seen_at(page, p) for p in ([0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]))
    assert b[1] == pytest.approx(a[1]) and c[0] == pytest.approx(a[0])
    assert b[0] - a[0] == pytest.approx(a[1] - c[1])
    set_time(page, 0)
    rim = seen_at(page, [0.16 - 0.03, 0.03, 0])
    near = [colour_at(page, rim[0] + d, rim[1]) for d in (-1, 0, 1)]
    assert any(sum(colour) < 450 for colour in near)  # the outline of the wheel
    page.evaluate("(c => { c.value = 'xz'; c.dispatchEvent(new Event('change')); })(document.querySelectorAll('.options select')[2])")
    page.frame()
    assert seen_at(page, [0, 0, 0.1])[1] < seen_at(page, [0, 0, 0])[1]


def test_the_spoke_shows_how_far_a_wheel_has_turned(show_flat):
    wheel = samples.body("wheel", [samples.shape("cylinder", [0.5, 0.1])], samples.packed([0, 0, 0] * 2), samples.packed(samples.STILL + samples.about("z", 1.5708), "int16"))
    page = show_flat(samples.document({**samples.scene("Wheel", [0, 10], [wheel], plane="xy"), "planar": True}))
    dark = lambda point: min(sum(colour_at(page, seen_at(page, point)[0] + dx, seen_at(page, point)[1] + dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)) < 450
    assert dark([0.3, 0, 0]) and not dark([0, 0.3, 0])
    set_time(page, 10)
    assert dark([0, 0.3, 0]) and not dark([0.3, 0, 0])


# ---- without WebGL, without data


def test_without_webgl_the_bodies_are_still_drawn_and_the_page_says_so(show_flat):
    page = show_flat(ball_document())
    assert state(page)["painter"] == "flat"
    assert "WebGL is not available" in page.evaluate("document.querySelector('.scene').innerText")
    for t in (0, 2):
        set_time(page, t)
        height, _ = samples.bounces(t, 1.0, 0.8)
        assert is_blue(colour_at(page, *seen_at(page, [0.45 * t - 0.9, 0, 0.1 + height])))


@pytest.mark.parametrize("block", [samples.empty(), samples.one_frame(), {"type": "scene"}, samples.scene("No shapes", [0, 1], [samples.body("point", [], [0, 0, 0])])], ids=["empty", "one frame", "bare", "no shapes"])
def test_empty_or_degenerate_scene_shows_a_page(show_flat, block):
    page = show_flat(samples.document(block))
    assert state(page)["drawn"] > 0
    if not block.get("times") or len(block["times"]) < 2:
        assert page.evaluate("document.querySelector('.play').disabled && document.querySelector('.scrub').disabled")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"times": [0, 1, 0.5]}, "ascend"),
        ({"times": [0, 1, 2], "bodies": [samples.body("b", [], [0, 0, 0, 1, 1, 1])]}, "3 frames"),
        ({"bodies": [samples.body("b", [samples.shape("torus")])]}, "torus"),
        ({"bodies": [samples.body("b", [samples.shape("box", [1])])]}, "3 sizes"),
        ({"bodies": [samples.body("b", [samples.shape("mesh", vertices=[0, 0, 0], triangles=[0, 1, 2])])]}, "triangle"),
        ({"forces": {"offsets": [0], "point": [0, 0, 0], "force": [0, 0, 1]}}, "offsets"),
    ],
    ids=["times", "poses", "kind", "sizes", "triangles", "forces"],
)
def test_a_scene_that_contradicts_itself_is_named_and_the_rest_is_shown(flat_browser, tmp_path, change, message):
    path = tmp_path / "scene.html"
    samples.write_page(TEMPLATE, path, samples.document({**samples.scene("Odd", [0, 1], []), **change}, {"type": "text", "title": "Rest", "paragraphs": ["fine"]}))
    flat_browser.emulate(700, 800)
    flat_browser.open(path)
    assert message in errors(flat_browser)
    assert "fine" in flat_browser.evaluate("document.body.innerText")


# ---- themes, paper, phone, files


def test_dark_page_has_a_dark_scene_and_paper_a_strip_of_moments_on_white(show_solid):
    page = show_solid(ball_document(), dark=True)
    assert max(colour_at(page, 3, 3)) < 60
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.evaluate("[...document.querySelectorAll('.strip figcaption')].map(e => e.textContent)") == ["t = 0.000 s", "t = 0.800 s", "t = 1.600 s", "t = 2.400 s", "t = 3.200 s", "t = 4.000 s"]
    corners = page.evaluate("[...document.querySelectorAll('.strip canvas')].map(c => Array.from(c.getContext('2d').getImageData(3, 3, 1, 1).data).slice(0, 3))")
    assert corners == [[255, 255, 255]] * 6
    visible = "e => e.getClientRects().length > 0"
    assert page.evaluate(f"[...document.querySelectorAll('.controls, .scene-box, .tools')].filter({visible}).length") == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate(700, 800)
    page.frame()
    assert min(colour_at(page, 3, 3)) > 240  # the page's theme can change while it is open


def test_controls_have_names_and_the_phone_has_no_sideways_scroll(show_flat):
    page = show_flat(planar_document(), width=360, height=740, mobile=True, scale=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    nameless = page.evaluate(
        """[...document.querySelectorAll('.scene button, .scene input, .scene select')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() && e.tagName === 'BUTTON' || e.closest('label'))).length"""
    )
    assert nameless == 0
    assert "bodies at" in page.evaluate("document.querySelector('.scene-box canvas').getAttribute('aria-label')")


def test_csv_holds_every_moving_body_in_every_frame(show_flat):
    page = show_flat(ball_document())
    lines = page.evaluate("window.stickslip.csv(0)").splitlines()
    assert lines[0] == "time (s),body,x (m),y (m),z (m),qw,qx,qy,qz"
    assert len(lines) == 401
    cells = lines[101].split(",")
    t = 4 * 100 / 399
    assert cells[1] == "ball" and float(cells[0]) == pytest.approx(t)
    assert float(cells[4]) == pytest.approx(0.1 + samples.bounces(t, 1.0, 0.8)[0], rel=1e-6)  # single precision


# ---- the file itself


def test_the_painter_of_solids_can_be_left_out_of_the_page(flat_browser, tmp_path):
    text = Path(TEMPLATE).read_text()
    first, last = "<!--STICKSLIP_SOLID-->", "<!--/STICKSLIP_SOLID-->"
    assert text.count(first) == text.count(last) == 1
    before, rest = text.split(first)
    inside, after = rest.split(last)
    assert "three.js authors" in inside  # its licence travels with it
    assert len(before) + len(after) < 0.6 * len(text)
    template = tmp_path / "template.html"
    template.write_text(before + after)
    path = tmp_path / "scene.html"
    samples.write_page(template, path, planar_document())
    flat_browser.emulate(700, 800)
    flat_browser.open(path)
    assert errors(flat_browser) == "" and flat_browser.complaints == []
    assert share_of_ink(flat_browser) > 0.01


# ---- planes


def walled_document(planar=False):
    """A ball in a box of five planes, 2 m wide; it moves by half a metre."""
    times = [0.0, 1.0]
    turns = [samples.STILL, samples.about("y", math.pi / 2), samples.about("y", -math.pi / 2), samples.about("x", -math.pi / 2), samples.about("x", math.pi / 2)]
    places = [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]]
    walls = samples.body("ground", [samples.shape("plane", position=p, quaternion=q) for p, q in zip(places, turns)], [0, 0, 0], samples.STILL)
    ball = samples.body("ball", [samples.shape("sphere", [0.2])], [0, 0, 0.2, 0.5, 0, 0.2], samples.STILL)
    return samples.document({**samples.scene("Box", times, [walls, ball], plane="xz"), "planar": planar})


def patches(page):
    """Corners in the world of each drawn plane."""
    return page.evaluate(
        """(() => { const d = window.stickslip.plot(0).data, b = d.bodies[0];
        return b.shapes.map(s => s.patch.map(c => { const R = s.local.R; return [0, 1, 2].map(i => s.local.p[i] + R[3 * i] * c[0] + R[3 * i + 1] * c[1] + R[3 * i + 2] * c[2]); })); })()"""
    )


def test_planes_end_around_the_bodies(show_flat):
    drawn = patches(show_flat(walled_document()))
    # the ball's box is 0.9 x 0.4 x 0.4 m; the margin 8 % of its largest side
    floor = drawn[0]
    assert [round(min(c[i] for c in floor), 6) for i in (0, 1)] == [-0.272, -0.272]
    assert [round(max(c[i] for c in floor), 6) for i in (0, 1)] == [0.772, 0.272]
    for wall in drawn[1:]:
        assert min(c[2] for c in wall) == pytest.approx(0, abs=1e-9)  # cut at the floor
        assert max(c[2] for c in wall) == pytest.approx(0.472, abs=1e-6)


def test_walls_near_the_bodies_cut_each_other_to_a_box(show_flat):
    content = walled_document()
    content["blocks"][0]["bodies"][0]["shapes"][2]["position"] = [0.7, 0, 0]  # touched at the end
    floor = patches(show_flat(content))[0]
    assert max(c[0] for c in floor) == pytest.approx(0.7, abs=1e-6)


def test_a_plane_seen_edge_on_is_a_line_that_ends(show_flat):
    page = show_flat(walled_document(planar=True))
    page.evaluate("window.stickslip.plot(0).show.grid = false; window.stickslip.plot(0).draw()")
    ink = lambda x: sum(colour_at(page, *seen_at(page, [x, 0, 0]))) < 600
    assert ink(0.0) and ink(0.6)
    assert not ink(-0.35) and not ink(0.85)
