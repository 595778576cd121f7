# SPDX-License-Identifier: Apache-2.0
"""Animations as GIF, and several of them side by side in the viewer."""
import base64
import json
import os
import signal
import struct
import subprocess

import pytest

import scene_samples as samples
from headless_chromium import Page, find_chromium

TEMPLATE, PROGRAM = os.environ.get("STICKSLIP_REPORT_TEMPLATE"), os.environ.get("STICKSLIP")
pytestmark = pytest.mark.skipif(not TEMPLATE or not PROGRAM, reason="STICKSLIP_REPORT_TEMPLATE and STICKSLIP name what is tested")
BODY = """
title = "A block on a plane"
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["0"]
[[friction]]
on = "x"
limit = 1
[[drawing]]
name = "block"
kind = "box"
size = [0.4, 0.2]
position = ["x", 0.1]
[initial]
velocity = [2]
[run]
step = 0.01
end_time = 3
"""


@pytest.fixture(scope="module")
def browser():
    if not find_chromium():
        pytest.skip("chromium is not installed: the page cannot be drawn")
    page = Page(timeout=900)
    yield page
    page.close()


def unpacked(codes, count):
    """Colours of LZW codes that begin at 9 bits, by the definition of the format."""
    table, size, previous, out, at = None, 9, None, bytearray(), 0
    bits = int.from_bytes(codes, "little")
    while True:
        code = (bits >> at) & ((1 << size) - 1)
        at += size
        if code == 256:
            table, size, previous = [bytes([k]) for k in range(256)] + [b"", b""], 9, None
            continue
        if code == 257:
            break
        entry = table[code] if code < len(table) else previous + previous[:1]
        out += entry
        if previous is not None and len(table) < 4096:
            table.append(previous + entry[:1])
        if len(table) == 1 << size and size < 12:
            size += 1
        previous = entry
    assert len(out) == count
    return bytes(out)


def pictures(data):
    """Size, colours, hundredths of a second, and each picture laid onto the one before."""
    assert data[:6] == b"GIF89a" and data[-1] == 0x3B
    width, height, flags = struct.unpack("<HHB", data[6:11])
    assert flags == 0xF7
    colours, at, found, screen, delays = data[13:13 + 768], 13 + 768, [], bytearray(width * height), []
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                delays.append(struct.unpack("<H", data[at + 4:at + 6])[0])
            at += 2
            while data[at]:
                at += 1 + data[at]
            at += 1
            continue
        assert data[at] == 0x2C
        left, top, wide, high, flags = struct.unpack("<HHHHB", data[at + 1:at + 10])
        assert flags == 0 and left + wide <= width and top + high <= height and data[at + 10] == 8
        at, codes = at + 11, b""
        while data[at]:
            codes += data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
        at += 1
        cut = unpacked(codes, wide * high)
        for row in range(high):
            screen[(top + row) * width + left:(top + row) * width + left + wide] = cut[row * wide:(row + 1) * wide]
        found.append(bytes(screen))
    return (width, height), colours, delays, found


def test_an_animation_is_saved_as_gif(browser, tmp_path):
    times, height, block = samples.woodpecker()
    samples.write_page(TEMPLATE, tmp_path / "s.html", samples.document(block, samples.curve("Height", times, height, name="y")))
    browser.emulate(700, 800)
    browser.open(tmp_path / "s.html")
    scene = browser.evaluate("stickslip.plots().findIndex(p => p.type === 'scene')")
    browser.evaluate(f"stickslip.plot({scene}).speed = 2")
    encoded = browser.evaluate(
        f"stickslip.plot({scene}).gif().then(b => b.arrayBuffer()).then(b => {{ let s = ''; for (const x of new Uint8Array(b)) s += String.fromCharCode(x); return btoa(s); }})")
    data = base64.b64decode(encoded)
    (wide, high), colours, delays, found = pictures(data)
    assert (wide, high) == (560, 336) and len(found) == len(delays) >= 10 and len(set(found)) > 5
    assert sum(delays) / 100 == pytest.approx((times[-1] - times[0]) / 2, rel=0.3)
    # What was painted, to the shades that are counted.
    painted = json.loads(browser.evaluate(
        f"(s => {{ const c = Object.assign(Object.create(Object.getPrototypeOf(s.camera)), s.camera); c.set_size(560, 336); const k = document.createElement('canvas');"
        f"s.paint_on(k, c, s.screen_theme(), 1, s.t_first); return JSON.stringify([...k.getContext('2d').getImageData(0, 0, 560, 336).data]); }})(stickslip.plot({scene}))"))
    far = sum(max(abs(colours[3 * found[0][i] + c] - painted[4 * i + c]) for c in range(3)) > 24 for i in range(0, wide * high, 7))
    assert far < 0.01 * wide * high / 7
    browser.evaluate(f"document.querySelectorAll('.tools button').forEach(b => b.textContent === 'GIF' && b.click())")
    browser.wait_for("[...document.querySelectorAll('.tools button')].some(b => b.textContent === 'GIF' && !b.disabled)")
    assert browser.evaluate("document.documentElement.dataset.errors") == "" and browser.complaints == []


def test_animations_side_by_side_are_played_together(browser, tmp_path):
    (tmp_path / "m.toml").write_text(BODY)
    for name, limit in (("a", 1), ("b", 2)):
        subprocess.run([PROGRAM, "run", "m.toml", "--set", f"friction.0.limit={limit}", "--out", f"r/{name}"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([PROGRAM, "sweep", "m.toml", "--over", "friction.0.limit=1,2", "--out", "r/s"], cwd=tmp_path, check=True, capture_output=True)
    viewer = subprocess.Popen([PROGRAM, "view", "r", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(viewer.stdout.readline())["address"]
        browser.emulate(1300, 1000)
        browser.call("Page.navigate", url=address)
        browser.wait_for("document.body?.dataset.ready === 'yes' && document.querySelectorAll('#list tr').length === 3")
        assert browser.evaluate("[...document.querySelectorAll('#list a')].filter(a => a.textContent === 'CSV').map(a => a.href.split('/').pop()).sort().join()") == (
            "sweep.csv,trajectory.csv,trajectory.csv")
        for k in range(3):
            browser.evaluate(f"document.querySelectorAll('#list input')[{k}].click()")
        browser.evaluate("document.querySelector('#films').click()")
        browser.wait_for("!document.querySelector('#transport').hidden")
        assert "No animation in s" in browser.evaluate("document.querySelector('#said').textContent")
        browser.evaluate("(t => { t.value = 0.5; t.oninput(); })(document.querySelector('#time'))")
        at = "[...document.querySelectorAll('#views iframe')].slice(0, 2).map(f => f.contentWindow.stickslip.plots().find(p => p.type === 'scene').time)"
        assert browser.evaluate(at) == pytest.approx([0.5, 0.5], abs=0.01)
        assert browser.evaluate("getComputedStyle(document.querySelector('#views iframe').contentDocument.querySelector('section.figure')).display") == "none"
        browser.evaluate("document.onkeydown({key: 'p', target: document.body, preventDefault() {}})")
        browser.wait_for(f"{at}.every(t => t > 0.6)")
        browser.evaluate("document.onkeydown({key: 'p', target: document.body, preventDefault() {}})")
        first, second = browser.evaluate(at)
        assert first == second
        # Friction over slip: the columns are chosen.
        browser.evaluate("(k => { k.value = 'slip'; k.onchange(); })(document.querySelector('#kind'))")
        assert browser.evaluate("document.querySelector('#x').value + ' ' + document.querySelector('#y').value") == "v_x r_friction1"
        assert not [r for r in browser.requests if r.startswith("http") and not r.startswith(address) and not r.endswith("/favicon.ico")]
    finally:
        viewer.send_signal(signal.SIGINT)
        assert viewer.wait() == 0
