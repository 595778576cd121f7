# SPDX-License-Identifier: Apache-2.0
"""Animations as GIF and WebM, and several of them side by side in the viewer."""
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


def scene_page(browser, folder, dark=False):
    """Opens a page with a scene; its times, and how the page calls it."""
    times, height, block = samples.woodpecker()
    samples.write_page(TEMPLATE, folder / "s.html", samples.document(block, samples.curve("Height", times, height, name="y")))
    browser.emulate(700, 800, dark=dark)
    browser.open(folder / "s.html")
    return times, f"stickslip.plot({browser.evaluate('stickslip.plots().findIndex(p => p.type === `scene`)')})"


def film(browser, scene, kind):
    return base64.b64decode(browser.evaluate(
        f"{scene}.{kind}().then(b => b.arrayBuffer()).then(b => {{ let s = ''; for (const x of new Uint8Array(b)) s += String.fromCharCode(x); return btoa(s); }})"))


def painted(browser, scene, ratio, t):
    """Colours of the scene at t, RGBA row by row, as a film should show them."""
    return json.loads(browser.evaluate(
        f"(s => {{ const c = Object.assign(Object.create(Object.getPrototypeOf(s.camera)), s.camera); c.set_size(560, 336); const k = document.createElement('canvas');"
        f"s.paint_on(k, c, s.screen_theme(), {ratio}, {t}); return JSON.stringify([...k.getContext('2d').getImageData(0, 0, k.width, k.height).data]); }})({scene})"))


def press(browser, text):
    browser.evaluate(f"document.querySelectorAll('.tools button').forEach(b => b.textContent === '{text}' && b.click())")
    browser.wait_for(f"[...document.querySelectorAll('.tools button')].some(b => b.textContent === '{text}' && !b.disabled)")
    assert browser.evaluate("document.documentElement.dataset.errors") == "" and browser.complaints == []


def test_an_animation_is_saved_as_gif(browser, tmp_path):
    times, scene = scene_page(browser, tmp_path)
    browser.evaluate(f"{scene}.speed = 2")
    data = film(browser, scene, "gif")
    (wide, high), colours, delays, found = pictures(data)
    assert (wide, high) == (560, 336) and len(found) == len(delays) >= 10 and len(set(found)) > 5
    assert sum(delays) / 100 == pytest.approx((times[-1] - times[0]) / 2, rel=0.3)
    # What was painted, to the shades that are counted.
    expected = painted(browser, scene, 1, f"{scene}.t_first")
    far = sum(max(abs(colours[3 * found[0][i] + c] - expected[4 * i + c]) for c in range(3)) > 24 for i in range(0, wide * high, 7))
    assert far < 0.01 * wide * high / 7
    press(browser, "GIF")


MASTERS = {0x1A45DFA3, 0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x55B0, 0x1C53BB6B, 0xBB, 0xB7, 0x1F43B675}


def elements(data, start=0, end=None, path=()):
    """(numbers of the elements around it and its own, place, content) of every element of an EBML file."""
    at, end = start, len(data) if end is None else end
    while at < end:
        begin, wide = at, 9 - data[at].bit_length()
        number, at = int.from_bytes(data[at:at + wide], "big"), at + wide
        wide = 9 - data[at].bit_length()
        size, at = int.from_bytes(data[at:at + wide], "big") & ((1 << 7 * wide) - 1), at + wide
        assert at + size <= end
        yield (*path, number), begin, data[at:at + size]
        if number in MASTERS:
            yield from elements(data, at, at + size, (*path, number))
        at += size


PLAYER = """<!doctype html><video muted></video><script>
const video = document.querySelector('video'), state = {};
video.onended = () => state.ended = true;
video.onerror = () => state.error = video.error.message;
video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob('%s'), c => c.charCodeAt(0))], {type: 'video/webm'}));
video.onloadeddata = () => document.documentElement.dataset.ready = 'true';
function seek(t) { return new Promise((done) => { video.onseeked = done; video.currentTime = t; }); }
function pixels() {
  const canvas = Object.assign(document.createElement('canvas'), {width: video.videoWidth, height: video.videoHeight});
  const ctx = canvas.getContext('2d');
  ctx.drawImage(video, 0, 0);
  return ctx.getImageData(0, 0, canvas.width, canvas.height).data;
}
function decoded() { return pixels()[3] === 255; }  // before, nothing is drawn
function shown() { return JSON.stringify([...pixels()]); }
</script>"""


@pytest.mark.parametrize("dark", [False, True])
def test_an_animation_is_saved_as_webm(browser, tmp_path, dark):
    times, scene = scene_page(browser, tmp_path, dark)
    browser.evaluate(f"{scene}.speed = 2")
    data = film(browser, scene, "webm")
    first, last = painted(browser, scene, 2, f"{scene}.t_first"), painted(browser, scene, 2, f"{scene}.t_last")
    press(browser, "WebM")
    # The container, read by the definition of the format.
    assert data[:4] == b"\x1a\x45\xdf\xa3"
    found = list(elements(data))
    segment = next(place for path, place, _ in found if path == (0x18538067,)) + 12  # number and size stand before its content
    clusters = {place - segment for path, place, _ in found if path[-1] == 0x1F43B675}
    cues = {int.from_bytes(content, "big") for path, _, content in found if path[-1] == 0xF1}
    assert cues == clusters
    stamps, cluster = [], None
    for path, _, content in found:
        if path[-1] == 0xE7:
            cluster, fresh = int.from_bytes(content, "big"), True
        elif path[-1] == 0xA3:
            assert content[0] == 0x81 and (content[3] == 0x80) == fresh, "a cluster begins with a picture that stands alone"
            stamps, fresh = stamps + [cluster + int.from_bytes(content[1:3], "big")], False
    length = (times[-1] - times[0]) / 2
    assert len(stamps) == pytest.approx(30 * length, abs=1.01)
    assert stamps[0] == 0 and all(abs(stamp - 1000 * k * length / len(stamps)) <= 1 for k, stamp in enumerate(stamps))
    (duration,) = [struct.unpack(">d", content)[0] for path, _, content in found if path[-1] == 0x4489]
    assert duration == pytest.approx(1000 * length)
    # A player shows all of it, in the colours that were painted.
    (tmp_path / "play.html").write_text(PLAYER % base64.b64encode(data).decode())
    browser.open(tmp_path / "play.html")
    assert browser.evaluate("[video.videoWidth, video.videoHeight]") == [1120, 672]
    assert browser.evaluate("video.duration") == pytest.approx(length, abs=0.002)

    def far(expected):
        browser.wait_for("decoded()")
        seen = json.loads(browser.evaluate("shown()"))
        return sum(max(abs(seen[4 * i + c] - expected[4 * i + c]) for c in range(3)) > 24 for i in range(0, 1120 * 672, 7)) * 7 / (1120 * 672)

    assert far(first) < 0.02
    browser.evaluate(f"seek({length} - 0.001)")
    assert far(last) < 0.02
    assert far(first) > 0.001, "it has moved"
    browser.evaluate("seek(0).then(() => video.play())")
    browser.wait_for("state.ended || state.error")
    assert browser.evaluate("state.error") is None
    assert browser.evaluate("video.getVideoPlaybackQuality().totalVideoFrames") > 1


def test_a_browser_without_an_encoder_says_so(browser, tmp_path):
    added = browser.call("Page.addScriptToEvaluateOnNewDocument", source="delete window.VideoEncoder")
    try:
        scene_page(browser, tmp_path)
        said = browser.evaluate("(b => [b.disabled, b.title])([...document.querySelectorAll('.tools button')].find(b => b.textContent === 'WebM'))")
        assert said[0] and "WebCodecs" in said[1] and "GIF" in said[1]
        assert browser.evaluate("document.documentElement.dataset.errors") == ""
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


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
        # Films are made here as in a report of its own.
        for kind, start in (("gif", [0x47, 0x49, 0x46]), ("webm", [0x1A, 0x45, 0xDF])):
            assert browser.evaluate(
                "(w => w.stickslip.plot(w.stickslip.plots().findIndex(p => p.type === 'scene')))(document.querySelector('#views iframe').contentWindow)"
                f".{kind}().then(b => b.arrayBuffer()).then(b => [...new Uint8Array(b, 0, 3)])") == start
        # Friction over slip: the columns are chosen.
        browser.evaluate("(k => { k.value = 'slip'; k.onchange(); })(document.querySelector('#kind'))")
        assert browser.evaluate("document.querySelector('#x').value + ' ' + document.querySelector('#y').value") == "v_x r_friction1"
        assert not [r for r in browser.requests if r.startswith("http") and not r.startswith(address) and not r.endswith("/favicon.ico")]
    finally:
        viewer.send_signal(signal.SIGINT)
        assert viewer.wait() == 0
