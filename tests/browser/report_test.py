# SPDX-License-Identifier: Apache-2.0
"""The interactive page, in a real browser: drawn right, linked, self-contained, usable on a phone and on paper.

STICKSLIP_REPORT_TEMPLATE names the built template (node report/build.mjs OUTPUT.html).
"""

import json
import math
import os
import re
import time
from pathlib import Path

import pytest

from headless_chromium import Page, find_chromium

MARKER = "/*STICKSLIP_DATA*/null"
TEMPLATE = os.environ.get("STICKSLIP_REPORT_TEMPLATE")
REPORT = Path(__file__).resolve().parents[2] / "report"

pytestmark = pytest.mark.skipif(not TEMPLATE, reason="STICKSLIP_REPORT_TEMPLATE does not name the built template")
CONTROL = 2  # modifier bits of the browser's input events
SHIFT = 8


@pytest.fixture(scope="module")
def browser():
    if not find_chromium():
        pytest.skip("chromium is not installed: the page cannot be drawn")
    page = Page()
    yield page
    page.close()


@pytest.fixture
def show(browser, tmp_path):
    """Opens a document (or raw text in its place) and returns the page."""

    def opened(document, width=1200, height=900, **how):
        text = document if isinstance(document, str) else json.dumps(document).replace("<", "\\u003c")
        path = tmp_path / "report.html"
        path.write_text(Path(TEMPLATE).read_text().replace(MARKER, text))
        browser.emulate(width, height, **how)
        browser.open(path)
        return browser

    return opened


# ---- documents


def axis(label, unit="", scale="linear"):
    return {"label": label, "unit": unit, "scale": scale}


def figure(title, series, x_values=None, link=None, x=None, y=None, **more):
    block = {"type": "figure", "title": title, "series": series, "x": x or axis("time", "s"), "y": y or axis("position", "m")}
    if x_values is not None:
        block["x_values"] = x_values
    if link:
        block["link"] = link
    return {**block, **more}


def document(*blocks, **more):
    return {"title": "Test", "generator": "stickslip", "status": {"ok": True, "text": "done"}, "blocks": list(blocks), **more}


TIMES = [0.01 * i for i in range(1001)]
MODES = ["stick", "slip+", "slip-", "slip", "open", "closed"]
KINDS = ["stick", "slip", "reversal", "open", "close", "impact"]


def timeline(laws=3, intervals=12, link="time"):
    rows = [
        {"name": f"law{k}", "intervals": [{"from": 10 * i / intervals, "to": 10 * (i + 1) / intervals, "mode": MODES[(i + k) % 6]} for i in range(intervals)]}
        for k in range(laws)
    ]
    events = [
        {"t": 10 * i / intervals, "law": f"law{k}", "kind": KINDS[(i + k) % 6], "before": MODES[(i + k - 1) % 6], "after": MODES[(i + k) % 6], "impulse": 0.25 if i % 2 else None}
        for k in range(laws)
        for i in range(1, intervals)
    ]
    return {"type": "timeline", "title": "Modes", "link": link, "from": 0, "to": 10, "unit": "s", "rows": rows, "events": events}


def linked_document():
    return document(
        figure("Ramp", [{"name": "ramp", "y": TIMES}], TIMES, "time"),
        figure("Sine", [{"name": "sine", "y": [math.sin(t) for t in TIMES]}], TIMES, "time"),
        timeline(),
        figure("Portrait", [{"name": "orbit", "x": [math.cos(t) for t in TIMES], "y": [math.sin(t) for t in TIMES]}], x=axis("x", "m")),
    )


def full_document():
    return document(
        {"type": "text", "title": "Text", "paragraphs": ["One.", "Two."]},
        *linked_document()["blocks"],
        figure(
            "Order",
            [{"name": "error", "x": [0.1, 0.01, 0.001], "y": [1e-2, 1e-4, 1e-6], "points": True}, {"name": "slope", "x": [0.1, 0.001], "y": [1e-1, 1e-5], "dash": True}],
            x=axis("step", "s", "log"),
            y=axis("error", "m", "log"),
            marks=[{"x": 0.01, "label": "default"}],
        ),
        {
            "type": "audit",
            "title": "Audit",
            "rows": [
                {"name": "cone", "value": 1e-15, "limit": 1e-10, "guaranteed": True, "ok": True, "meaning": "distance", "unit": "-"},
                {"name": "drift", "value": 1e-3, "limit": 1e-6, "guaranteed": True, "ok": False, "meaning": "drift", "unit": "m"},
                {"name": "energy", "value": 0.2, "limit": 0.1, "guaranteed": False, "ok": False, "meaning": "gain", "unit": "J"},
                {"name": "loss", "value": 2.5, "limit": None, "guaranteed": False, "ok": True, "meaning": "heat", "unit": "J"},
            ],
        },
        {
            "type": "table",
            "title": "Claims",
            "columns": ["claim", "paper", "ours", "verdict"],
            "rows": [["period", 10, 9.99871234, "confirmed"], ["order", 9, 1, "corrected"], ["gap", None, 1.5e-12, "failed"]],
            "verdict_column": 3,
        },
        facts=[{"label": "scheme", "value": "moreau"}, {"label": "wall time", "value": "0.1 s"}],
        subtitle="a subtitle",
    )


# ---- helpers


def errors(page):
    return page.evaluate("document.documentElement.dataset.errors")


def plots(page):
    return page.evaluate("window.stickslip.plots()")


def place(page, index):
    """Plotting area on the screen: left, top, width, height; scrolled into view."""
    page.evaluate(f"window.stickslip.plot({index}).u.over.scrollIntoView({{block: 'center'}})")
    page.frame()
    return page.evaluate(f"(r => [r.left, r.top, r.width, r.height])(window.stickslip.plot({index}).u.over.getBoundingClientRect())")


def is_drawn(page, index, x, y, reach=2):
    """Whether the first series' blue (#0072b2, antialiased) is on the canvas within `reach` pixels of the data point."""
    return page.evaluate(
        f"""(() => {{ const u = window.stickslip.plot({index}).u, n = 2 * {reach} + 1;
        const d = u.ctx.getImageData(u.valToPos({x}, 'x', true) - {reach}, u.valToPos({y}, 'y', true) - {reach}, n, n).data;
        return Array.from({{length: n * n}}, (_, k) => d[4 * k] < 100 && d[4 * k + 2] > 150).some(Boolean); }})()"""
    )


# ---- the file itself


def test_template_holds_one_marker_and_asks_for_nothing_outside():
    text = Path(TEMPLATE).read_text()
    assert text.count(MARKER) == 1
    assert not re.search(r"""(src|href)\s*=\s*["']?\s*(https?:)?//""", text)
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "Permission is hereby granted" in text  # the licence of the library inside travels with it


def test_lock_file_names_no_download_address():
    text = (REPORT / "package-lock.json").read_text()
    assert "http" not in text and '"resolved"' not in text
    assert '"integrity"' in text


# ---- what is drawn


def test_every_block_is_drawn_without_error_or_request(show):
    page = show(full_document())
    assert errors(page) == ""
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert [p["type"] for p in plots(page)] == ["figure", "figure", "timeline", "figure", "figure"]
    assert page.evaluate("document.querySelectorAll('section.block').length") == 8
    assert page.evaluate("document.querySelectorAll('nav.contents a').length") == 8
    assert page.evaluate("document.title") == "Test"


def test_curve_passes_through_its_data_and_nowhere_else(show):
    page = show(document(figure("Ramp", [{"name": "ramp", "y": TIMES}], TIMES)))
    for t in (1.5, 5.2, 8.3):
        assert is_drawn(page, 0, t, t)
        assert not is_drawn(page, 0, t, t - 1)


def test_null_is_a_gap(show):
    values = [None if 4 < t < 6 else 0.5 for t in TIMES]
    page = show(document(figure("Gap", [{"name": "y", "y": values}], TIMES)))
    assert is_drawn(page, 0, 3.3, 0.5)
    assert not is_drawn(page, 0, 5, 0.5)


def test_one_sample_among_a_million_stays_visible_and_zoom_stays_quick(show):
    count = 1_000_000
    y = [0] * count
    y[777_777] = 1
    y[333_333] = -1
    page = show(document(figure("Spike", [{"name": "y", "y": y}], list(range(count)))))
    assert errors(page) == ""
    assert is_drawn(page, 0, 777_777, 0.5) and not is_drawn(page, 0, 777_777, -0.5)
    assert is_drawn(page, 0, 333_333, -0.5) and not is_drawn(page, 0, 333_333, 0.5)
    took = page.evaluate(
        """(() => { const p = window.stickslip.plot(0), took = [];
        for (let k = 1; k <= 9; k++) { const start = performance.now(); p.link.zoom(0, 1e6 - 1000 * k); p.link.flush(); took.push(performance.now() - start); }
        return Math.min(...took); })()"""
    )
    assert took < 250  # ms, the quickest redraw of nine; about 10 on a desk machine, the rest is room for a loaded one


def test_folding_curve_is_drawn_on_both_branches(show):
    turns = [2 * math.pi * i / 500 for i in range(501)]
    page = show(document(figure("Orbit", [{"name": "orbit", "x": [math.cos(a) for a in turns], "y": [math.sin(a) for a in turns]}])))
    height = math.sin(math.acos(0.3))
    assert is_drawn(page, 0, 0.3, height)
    assert is_drawn(page, 0, 0.3, -height)
    window = plots(page)[0]["window"]
    assert window[0] < -1 and window[1] > 1


def test_log_axes_have_decade_labels_and_leave_out_what_is_not_positive(show):
    steps = [10.0**-k for k in range(5)]
    page = show(document(figure("Order", [{"name": "e", "x": steps, "y": [s * s for s in steps[:-1]] + [0]}], x=axis("h", "s", "log"), y=axis("e", "m", "log"))))
    assert errors(page) == ""
    assert [label for label in page.evaluate("window.stickslip.plot(0).x_marks.labels") if label] == ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]
    assert is_drawn(page, 0, 10**-1.5, 10**-3)
    assert "1 value is zero or negative" in page.evaluate("document.body.innerText")


def test_numbers_are_short_and_keep_their_size(show):
    page = show(document())
    cases = {0: "0", 40: "40", 0.1: "0.1", 1 / 3: "0.33333", 123456.789: "123457", 1.5e-12: "1.5e-12", 8.6e-10: "8.6e-10", 2e-20: "2e-20", 6.02214e23: "6.0221e23", -0.00012345678: "-0.00012346", 1e6: "1e6", 999999: "999999"}
    for value, text in cases.items():
        assert page.evaluate(f"window.stickslip.format({value!r})") == text
    assert page.evaluate("window.stickslip.format(null)") == "–"


EMPTY = [
    {},
    document(),
    document(figure("No series", [])),
    document(figure("No samples", [{"name": "y", "y": []}], [])),
    document(figure("Only gaps", [{"name": "y", "y": [None, None]}], [0, 1])),
    document(figure("One sample", [{"name": "y", "y": [3]}], [0])),
    document(figure("Constant", [{"name": "y", "y": [1e-17, 1e-17]}], [1e9, 1e9])),
    document(figure("No x", [{"name": "y", "y": [1, 2, 3]}])),
    document(figure("Log without positive", [{"name": "y", "x": [-1, 0], "y": [0, -1]}], x=axis("x", "", "log"), y=axis("y", "", "log"))),
    document({"type": "timeline", "title": "None", "from": 0, "to": 0, "unit": "s", "rows": [], "events": []}),
    document({"type": "timeline", "title": "Event only", "link": "time", "from": 0, "to": 1, "unit": "s", "rows": [], "events": [{"t": 0.5, "law": "a", "kind": "impact", "before": "", "after": "", "impulse": 1}]}),
    document(figure("Linked", [], link="time"), timeline(0, 1)),
    document({"type": "audit", "title": "None", "rows": []}, {"type": "table", "title": "None", "columns": [], "rows": []}, {"type": "text", "paragraphs": []}),
]


@pytest.mark.parametrize("empty", EMPTY, ids=lambda d: (d.get("blocks") or [{}])[0].get("title", "nothing") if d else "bare")
def test_empty_or_degenerate_document_shows_a_page(show, empty):
    page = show(empty)
    assert errors(page) == "" and page.complaints == []
    for plot in plots(page):
        assert plot["drawn"][0] < plot["drawn"][1]


def test_broken_block_is_reported_and_the_others_are_shown(show):
    page = show(document({"type": "hologram", "title": "Odd"}, figure("Fine", [{"name": "y", "y": [1, 2]}], [0, 1])))
    assert "hologram" in errors(page)
    assert "could not be shown" in page.evaluate("document.getElementById('block-1').innerText")
    assert len(plots(page)) == 1


def test_unreadable_document_says_so(show):
    page = show('{"title": ')
    assert "not valid JSON" in errors(page)
    assert "no readable result" in page.evaluate("document.body.innerText")


def test_text_is_never_taken_for_markup(show):
    hostile = "</script><script>document.documentElement.dataset.hit=1</script><!--<script><img src=x onerror=alert(1)>"
    page = show(document(figure(hostile, [{"name": hostile, "y": [1, 2]}], [0, 1]), {"type": "table", "title": hostile, "columns": [hostile], "rows": [[hostile]]}))
    assert errors(page) == ""
    assert page.evaluate("document.documentElement.dataset.hit") is None
    assert page.evaluate("document.querySelector('h2').textContent") == hostile
    assert page.evaluate("document.images.length") == 0


# ---- zoom and cursor


def test_drag_zooms_all_linked_plots_and_double_click_resets(show):
    page = show(linked_document())
    left, top, width, height = place(page, 0)
    page.drag(left + 0.2 * width, top + 0.5 * height, left + 0.6 * width, top + 0.5 * height)
    now = plots(page)
    for plot in now[:3]:
        assert plot["drawn"] == pytest.approx([2, 6], abs=10 / width * 2)  # two pixels of pointer rounding
        assert plot["drawn"] == now[0]["drawn"]
    assert now[3]["drawn"][0] < -1 < 1 < now[3]["drawn"][1]
    assert now[0]["y_window"][0] == pytest.approx(2 - 0.06 * 4, abs=0.05)  # the vertical axis follows what is seen
    page.double_click(left + 0.5 * width, top + 0.5 * height)
    assert [p["drawn"] for p in plots(page)[:3]] == [[0, 10]] * 3


def test_drag_in_the_timeline_zooms_the_figures(show):
    page = show(linked_document())
    left, top, width, height = place(page, 2)
    page.drag(left + 0.5 * width, top + 20, left + 0.7 * width, top + 30)
    assert plots(page)[1]["drawn"] == pytest.approx([5, 7], abs=0.05)


def test_linked_plots_stand_above_each_other(show):
    lefts = [p["left"] for p in plots(show(linked_document()))[:3]]
    assert max(lefts) - min(lefts) <= 1


def test_wheel_zooms_about_the_pointer_and_shift_drag_pans(show):
    page = show(linked_document())
    left, top, width, height = place(page, 1)
    x, y = left + 0.3 * width, top + 0.5 * height
    page.mouse("mouseMoved", x, y)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=CONTROL)
    page.frame()
    a, b = plots(page)[0]["drawn"]
    assert b - a == pytest.approx(10 * math.exp(-0.6), rel=1e-3)
    assert a + 0.3 * (b - a) == pytest.approx(3, abs=10 / width * 2)
    page.drag(x, y, x - 0.2 * width, y, modifiers=SHIFT)
    assert plots(page)[0]["drawn"] == pytest.approx([a + 0.2 * (b - a), b + 0.2 * (b - a)], abs=10 / width * 2)


def test_wheel_over_an_untouched_plot_scrolls_the_page(show):
    page = show(linked_document())
    left, top, width, height = place(page, 0)
    page.mouse("mouseWheel", left + 50, top + 50, deltaX=0, deltaY=200)
    page.frame()
    assert plots(page)[0]["drawn"] == [0, 10]
    assert page.evaluate("document.querySelectorAll('.hint.visible').length") == 1


def test_keyboard_zooms_pans_and_resets(show):
    page = show(linked_document())
    page.evaluate("window.stickslip.plot(0).canvas_box.focus()")

    def press(key):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        page.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        page.frame()

    press("+")
    assert plots(page)[2]["drawn"] == pytest.approx([1.5, 8.5])
    press("ArrowRight")
    assert plots(page)[2]["drawn"] == pytest.approx([2.55, 9.55])
    press("0")
    assert plots(page)[2]["drawn"] == [0, 10]


def test_cursor_shows_the_values_of_all_linked_figures(show):
    page = show(linked_document())
    left, top, width, height = place(page, 0)
    page.mouse("mouseMoved", left + 0.25 * width, top + 0.5 * height)
    page.frame()
    shown = page.evaluate("[...document.querySelectorAll('.legend .value')].map(e => e.textContent)")
    assert float(shown[0]) == pytest.approx(2.5, abs=0.03)
    assert float(shown[1]) == pytest.approx(math.sin(float(shown[0])), abs=1e-4)  # both read the same sample
    now = plots(page)
    assert now[2]["cursor"] == pytest.approx(now[0]["cursor"], abs=1)
    assert shown[2] == ""
    page.evaluate("window.stickslip.zoom(0, 2, 4)")  # the pointer rests: what is under it changes
    page.frame()
    shown = page.evaluate("[...document.querySelectorAll('.legend .value')].map(e => e.textContent)")
    assert float(shown[0]) == pytest.approx(2.5, abs=0.03)
    page.evaluate("window.stickslip.zoom(0, 4, 8)")
    page.frame()
    shown = page.evaluate("[...document.querySelectorAll('.legend .value')].map(e => e.textContent)")
    assert float(shown[0]) == pytest.approx(5, abs=0.03)
    assert float(shown[1]) == pytest.approx(math.sin(float(shown[0])), abs=1e-4)
    off_curve = page.evaluate(
        f"""(() => {{ const plot = window.stickslip.plot(1), over = plot.u.over.getBoundingClientRect(), dot = plot.dots[0].getBoundingClientRect();
        return [dot.left + dot.width / 2 - over.left - plot.u.valToPos({shown[0]}, 'x'), dot.top + dot.height / 2 - over.top - plot.u.valToPos({shown[1]}, 'y')]; }})()"""
    )
    assert off_curve == pytest.approx([0, 0], abs=1)  # pixel


def test_hover_tells_the_event_and_the_mode(show):
    page = show(linked_document())
    left, top, width, height = place(page, 2)
    page.mouse("mouseMoved", left + width / 12, top + height / 6)
    page.frame()
    text = page.evaluate("document.querySelector('.tip').innerText")
    assert "law0" in text and "slip at 0.833333 s (stick → slip+), impulse 0.25" in text
    page.mouse("mouseMoved", left + 1.5 * width / 12, top + height / 2)
    page.frame()
    assert "slip − from 0.833333 s to 1.66667 s" in page.evaluate("document.querySelector('.tip').innerText")


def test_keys_n_and_p_go_from_event_to_event_and_take_the_cursor_of_all_plots_along(show):
    page = show(linked_document())
    page.evaluate("window.stickslip.plot(2).canvas_box.focus()")
    assert "next and the previous event" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    events = page.evaluate("window.stickslip.plot(2).events.map((e) => [e.t, e.law, e.kind])")

    def press(key):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        page.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        page.frame()
        return page.evaluate("window.stickslip.plot(2).link.cursor_x"), page.evaluate("[document.querySelector('.tip').hidden, document.querySelector('.tip').innerText]")

    for t, law, kind in events[:4]:
        at, (hidden, text) = press("n")
        assert at == t and not hidden and law in text and f"{kind} at" in text
    now = plots(page)
    assert now[0]["cursor"] == pytest.approx(now[2]["cursor"], abs=1)  # pixel
    at, (hidden, text) = press("p")
    assert at == events[2][0] and events[2][1] in text
    page.evaluate("window.stickslip.zoom(0, 0, 0.1)")  # the next event lies outside: the window follows
    page.frame()
    at, _ = press("n")
    low, high = plots(page)[0]["drawn"]
    assert at == events[3][0] and low <= at <= high and high - low == pytest.approx(0.1)
    for _ in range(len(events)):
        at, _ = press("n")
    assert at == events[-1][0]  # and stays there


# ---- many series, many laws


def test_a_thousand_series_show_a_few_and_find_the_rest(show):
    series = [{"name": f"x{k}", "y": [k, k + 1]} for k in range(1000)]
    page = show(document(figure("Chain", series, [0, 1])))
    assert plots(page)[0]["shown"] == 6
    page.evaluate(
        """(() => { const box = document.querySelector('.chooser'); box.open = true; const search = box.querySelector('input[type=search]');
        search.value = 'x777'; search.dispatchEvent(new Event('input')); box.querySelector('.chooser-list input').click(); })()"""
    )
    page.frame()
    assert "x777" in page.evaluate("document.querySelector('.legend').innerText")
    assert plots(page)[0]["shown"] == 7
    assert plots(page)[0]["y_window"][1] > 778


def test_legend_button_hides_a_series(show):
    page = show(document(figure("Two", [{"name": "small", "y": [0, 1]}, {"name": "large", "y": [0, 100]}], [0, 1])))
    assert plots(page)[0]["y_window"][1] > 100
    page.evaluate("document.querySelectorAll('button.entry')[1].click()")
    page.frame()
    assert page.evaluate("document.querySelectorAll('button.entry')[1].getAttribute('aria-pressed')") == "false"
    assert plots(page)[0]["y_window"][1] < 2


def test_thousands_of_laws_and_events_do_not_freeze(show):
    page = show(document(timeline(laws=2000, intervals=50)))  # a frozen page never gets ready
    assert errors(page) == ""
    assert plots(page)[0]["shown"] == 16
    page.evaluate("document.querySelector('.events').open = true")
    page.frame()
    assert page.evaluate("document.querySelectorAll('.events tbody tr').length") == 200


# ---- phone, paper, dark


def test_phone_has_no_sideways_scroll(show):
    page = show(full_document(), 360, 740, mobile=True, scale=2)
    assert errors(page) == ""
    assert int(page.evaluate("document.documentElement.dataset.scrollWidth")) <= 360
    assert page.evaluate("Math.max(...window.stickslip.plots().map((_, i) => window.stickslip.plot(i).u.over.getBoundingClientRect().right))") <= 360
    assert page.evaluate("Math.min(...window.stickslip.plots().map((_, i) => window.stickslip.plot(i).u.over.clientWidth))") >= 200


def test_pinch_zooms_one_finger_pans_and_two_taps_reset(show):
    page = show(linked_document(), 360, 740, mobile=True, scale=2)
    left, top, width, height = place(page, 0)
    middle, y = left + width / 2, top + height / 2
    page.touch("touchStart", (middle - 20, y), (middle + 20, y))
    page.touch("touchMove", (middle - 40, y), (middle + 40, y))
    page.touch("touchMove", (middle - 80, y), (middle + 80, y))
    page.touch("touchEnd")
    a, b = plots(page)[1]["drawn"]
    assert b - a == pytest.approx(2.5, rel=0.02)
    assert (a + b) / 2 == pytest.approx(5, abs=0.05)
    page.touch("touchStart", (middle, y))
    for dx in (10, 30, 50):
        page.touch("touchMove", (middle - dx, y))
    page.touch("touchEnd")
    moved = plots(page)[1]["drawn"]
    assert moved[0] - a == pytest.approx(50 / width * (b - a), rel=0.25)  # the first pixels decide between pan and scroll
    for _ in range(2):
        page.touch("touchStart", (middle, y))
        page.touch("touchEnd")
    assert plots(page)[1]["drawn"] == [0, 10]


def test_resize_redraws_to_the_new_width(show):
    page = show(linked_document())
    wide = page.evaluate("window.stickslip.plot(0).u.width")
    page.emulate(700, 900)
    page.frame()
    page.frame()
    assert page.evaluate("window.stickslip.plot(0).u.width") < wide
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


CORNER = "(c => Array.from(c.getContext('2d').getImageData(1, 1, 1, 1).data).slice(0, 3))"


def test_dark_page_is_dark_on_screen_and_white_on_paper_and_in_files(show):
    page = show(full_document(), dark=True)
    assert max(page.evaluate(f"{CORNER}(window.stickslip.plot(0).u.ctx.canvas)")) < 60
    assert page.evaluate(f"{CORNER}(window.stickslip.plot(0).static_canvas(600, 1))") == [255, 255, 255]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.evaluate(f"{CORNER}(document.querySelector('.print-copy canvas'))") == [255, 255, 255]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    visible = "e => e.getClientRects().length > 0"
    assert page.evaluate(f"[...document.querySelectorAll('.tools, .canvas-box, .chooser, nav')].filter({visible}).length") == 0
    assert page.evaluate(f"[...document.querySelectorAll('.print-copy canvas')].filter({visible}).length") == 5
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('.print-copy canvas').length") == 0
    assert page.pdf().startswith(b"%PDF")


def test_modes_differ_in_greyscale_pattern(show):
    """Two modes may share no swatch once colour is taken away: neither mean grey nor, at equal grey, the pattern."""
    page = show(document(timeline(laws=1, intervals=6)))
    swatches = page.evaluate(
        """[...document.querySelectorAll('.timeline .swatch')].slice(0, 6).map(c => { const d = c.getContext('2d').getImageData(8, 4, 40, 20).data;
        return Array.from({length: 800}, (_, k) => Math.round(0.3 * d[4 * k] + 0.59 * d[4 * k + 1] + 0.11 * d[4 * k + 2])); })"""
    )
    for i in range(6):
        for j in range(i):
            differing = sum(abs(a - b) > 40 for a, b in zip(swatches[i], swatches[j]))
            assert differing > 40, (MODES[i], MODES[j])  # 5 % of the swatch


# ---- tables and files


def test_verdicts_have_words_and_tables_sort(show):
    page = show(full_document())
    badges = page.evaluate("[...document.querySelectorAll('.badge')].map(e => e.textContent)")
    for word in ("holds", "broken", "flagged", "reported", "confirmed", "corrected", "failed"):
        assert any(word in text for text in badges)
    page.evaluate("document.querySelectorAll('.table .sort')[1].click()")
    column = page.evaluate("[...document.querySelectorAll('.table tbody tr')].map(r => r.children[1].textContent)")
    assert column == ["9", "10", "–"]


def test_csv_holds_the_numbers_exactly(show):
    values = [0.1, 1 / 3, None, 1e-300]
    page = show(document(figure("Data", [{"name": 'a, "b"', "y": values}], [0, 1, 2, 3]), figure("Own x", [{"name": "p", "x": [1, 2], "y": [3, 4]}, {"name": "q", "x": [5], "y": [6]}])))
    lines = page.evaluate("window.stickslip.csv(0)").splitlines()
    assert lines[0] == 'time (s),"a, ""b"""'
    assert [line.split(",")[1] for line in lines[1:]] == ["0.1", "0.3333333333333333", "", "1e-300"]
    assert page.evaluate("window.stickslip.csv(1)").splitlines() == ["p: time (s),p,q: time (s),q", "1,3,5,6", "2,4,,"]


def test_download_buttons_write_a_csv_and_a_png(show, tmp_path):
    page = show(full_document())
    page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for name in ("CSV", "PNG"):
        page.evaluate(f"[...document.querySelectorAll('.figure .tool')].find(b => b.textContent === '{name}').click()")
    deadline = time.monotonic() + 600

    def written(path):  # the browser makes the file first and fills it then
        return path.exists() and path.stat().st_size > 0

    while not (written(tmp_path / "Ramp.csv") and written(tmp_path / "Ramp.png")):
        assert time.monotonic() < deadline, sorted(p.name for p in tmp_path.iterdir())
        page.frame()
    assert (tmp_path / "Ramp.png").read_bytes().startswith(b"\x89PNG")
    assert errors(page) == "" and page.complaints == []
