# SPDX-License-Identifier: Apache-2.0
"""What a reader chooses and can trust to see: series by body, axes that noise does not stretch, parts of a force, inputs, notes."""

import pytest

from report_test import TIMES, axis, browser, document, errors, figure, full_document, plots, pytestmark, show  # noqa: F401

BODIES = 200


def pile(title, link="time", components="xyz", bodies=BODIES, noun="bodies"):
    series = [{"name": f"ball{k}.{c}", "group": f"ball{k}", "y": [k + 0.1 * i, k]} for k in range(bodies) for i, c in enumerate(components)]
    return figure(title, series, [0, 1], link, groups=noun)


def legend(page, index):
    return page.evaluate(f"[...document.querySelectorAll('section.block')[{index}].querySelectorAll('.legend .entry .name')].map(e => e.textContent)")


# ---- choice by body


def test_bodies_are_chosen_as_a_whole_and_the_legend_stays_short(show):
    page = show(document(pile("Positions"), pile("Velocities")))
    assert errors(page) == ""
    assert legend(page, 0) == [f"ball{k}.{c}" for k in range(3) for c in "xyz"]  # as many as a legend can tell apart
    assert page.evaluate("document.querySelectorAll('.picker select')[0].options.length") == BODIES + 1


def test_a_body_chosen_in_one_figure_is_shown_in_all(show):
    page = show(document(pile("Positions"), pile("Velocities"), pile("Other", link="else")))
    page.evaluate("(s => { s.value = '150'; s.dispatchEvent(new Event('change')); })(document.querySelectorAll('.picker select')[1])")
    page.frame()
    for index in (0, 1):
        assert legend(page, index) == ["ball150.x", "ball150.y", "ball150.z"]
    assert len(legend(page, 2)) == 9  # another link
    assert page.evaluate("document.querySelectorAll('.picker select')[0].value") == "150"
    low, high = plots(page)[0]["y_window"]
    assert 149 < low < 150 < 150.2 < high < 151


def test_bodies_can_be_gone_through_with_the_keyboard(show):
    page = show(document(pile("Positions", bodies=5)))
    page.evaluate("document.querySelector('.picker button[title=\"Next body\"]').focus()")
    for expected in ("ball0", "ball1", "ball2", "ball3", "ball4", "ball0"):
        page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
        page.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
        page.frame()
        assert legend(page, 0) == [f"{expected}.{c}" for c in "xyz"]


def test_several_bodies_are_chosen_from_a_list_and_many_do_not_flood_the_legend(show):
    page = show(document(pile("Positions")))
    page.evaluate("(d => { d.open = true; d.querySelector('input[type=search]').value = 'ball1'; d.querySelector('input[type=search]').dispatchEvent(new Event('input')); [...d.querySelectorAll('button')].find(b => b.textContent === 'Show matches').click(); })(document.querySelector('.picker details'))")
    page.frame()
    assert plots(page)[0]["shown"] == 3 * 40
    assert len(legend(page, 0)) == 24
    assert "and 96 more" in page.evaluate("document.querySelector('.legend').textContent")
    assert page.evaluate("document.querySelector('.picker option').textContent") == "40 bodies"


def test_one_body_needs_no_choice(show):
    page = show(document(pile("Positions", bodies=1)))
    assert page.evaluate("document.querySelectorAll('.picker').length") == 0
    assert len(legend(page, 0)) == 3


def test_parts_of_a_force_wait_in_the_legend(show):
    series = [{"name": "shoe", "y": [1, 2]}, {"name": "shoe, set-valued part", "y": [40, 50], "hidden": True, "dash": True}]
    page = show(document(figure("Forces", series, [0, 1])))
    assert plots(page)[0]["y_window"][1] < 3
    page.evaluate("document.querySelectorAll('.legend button.entry')[1].click()")
    page.frame()
    assert plots(page)[0]["y_window"][1] > 50


# ---- axes


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_noise_is_drawn_flat_on_an_axis_of_the_quantitys_size(show, unit):
    noise = [unit * 1e-16 * ((7 * i) % 13 - 6) for i in range(len(TIMES))]
    page = show(document(figure("Noise", [{"name": "y", "y": noise}], TIMES, y={**axis("position", "m"), "size": 2 * unit})))
    low, high = plots(page)[0]["y_window"]
    assert low == pytest.approx(-0.1 * unit) and high == pytest.approx(0.1 * unit)


def test_a_constant_with_noise_has_a_readable_axis(show):
    values = [5 + 1e-15 * (i % 3) for i in range(len(TIMES))]
    page = show(document(figure("Constant", [{"name": "y", "y": values}], TIMES, y={**axis("position", "m"), "size": 5})))
    low, high = plots(page)[0]["y_window"]
    assert low == pytest.approx(4.5) and high == pytest.approx(5.5)


def test_small_motion_that_is_no_noise_is_shown_as_it_is(show):
    values = [1e-4 * t for t in TIMES]
    page = show(document(figure("Creep", [{"name": "y", "y": values}], TIMES, y={**axis("position", "m"), "size": 10})))
    low, high = plots(page)[0]["y_window"]
    assert -1e-4 < low <= 0 and 1e-3 <= high < 1.1e-3


def test_a_close_look_at_a_slope_keeps_the_slope(show):
    page = show(document(figure("Ramp", [{"name": "y", "y": TIMES}], TIMES, y={**axis("position", "m"), "size": 10})))
    page.evaluate("window.stickslip.zoom(0, 5, 5.00001)")
    page.frame()
    low, high = plots(page)[0]["y_window"]
    assert high - low < 2e-5


# ---- inputs, notes, verdicts, wide tables


def test_inputs_are_there_and_whole_on_paper(show):
    block = {
        "type": "inputs",
        "title": "Inputs",
        "rows": [{"name": "date", "value": "2026-11-16"}, {"name": "version", "value": "0.1.0"}],
        "settings": ["run.step=0.01", "friction.0.limit=<b>2</b>"],
        "parameters": [{"name": "k", "value": 2.5}],
        "model_text": 'title = "</script>"\n[run]\nstep = 1\n',
    }
    page = show(document(block))
    assert errors(page) == ""
    assert page.evaluate("[...document.querySelectorAll('.inputs details')].map(d => d.open)") == [False] * 3
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    text = page.evaluate("document.querySelector('.inputs').innerText")
    for wanted in ("2026-11-16", "friction.0.limit=<b>2</b>", "2.5", 'title = "</script>"'):
        assert wanted in text
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("[...document.querySelectorAll('.inputs details')].some(d => d.open)") is False


def test_notes_stand_above_everything(show):
    page = show(document(*full_document()["blocks"], notes=["planar friction that turns: order 1", "<i>second</i>"]))
    assert page.evaluate("[...document.querySelectorAll('header .notes li')].map(e => e.textContent)") == ["planar friction that turns: order 1", "<i>second</i>"]


def test_only_what_succeeded_is_green(show):
    words = ["success", "confirmed", "corrected", "failed", "audit failed", "not converged", "no solution"]
    page = show(document({"type": "table", "title": "Runs", "columns": ["scheme", "status"], "rows": [[f"s{i}", w] for i, w in enumerate(words)], "verdict_column": 1}))
    kinds = page.evaluate("[...document.querySelectorAll('td .badge')].map(b => [...b.classList].pop())")
    assert kinds == ["good", "good", "warn", "bad", "bad", "bad", "bad"]


@pytest.mark.parametrize("width", [1280, 1000])
def test_every_column_of_a_wide_table_is_in_sight(show, width):
    columns = ["file", "contacts", "status", "solver", "method", "error", "strict_error", "iterations", "seconds"]
    row = ["Capsules-i100-889-a-rather-long-name.hdf5", 1617, "success", "accelerated", "accelerated_gauss_seidel+proximal_newton", 1.234e-9, 9.876e-10, 12345, 12.3456]
    page = show(document({"type": "table", "title": "Problems", "columns": columns, "rows": [row] * 3, "verdict_column": 2}), width=width)
    box, last = page.evaluate("[document.querySelector('.table-box').getBoundingClientRect().right, [...document.querySelectorAll('thead th')].pop().getBoundingClientRect().right]")
    assert last <= box + 1


def test_a_phone_shows_the_cells_of_a_wide_table_below_each_other(show):
    columns = ["file", "contacts", "status", "solver", "method", "error", "strict_error", "iterations", "seconds"]
    row = ["Capsules-i100-889.hdf5", 276, "success", "default", "accelerated_gauss_seidel+proximal_newton", 7.4e-11, 7.4e-11, 98, 0.0078]
    page = show(document({"type": "table", "title": "Problems", "columns": columns, "rows": [row], "verdict_column": 2}), width=390, height=800, mobile=True)
    right = page.evaluate("Math.max(...[...document.querySelectorAll('tbody td')].map(c => c.getBoundingClientRect().right))")
    assert right <= 390
    assert page.evaluate("getComputedStyle(document.querySelectorAll('tbody td')[4], '::before').content") == '"method"'
