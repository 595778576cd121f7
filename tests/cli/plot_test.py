# SPDX-License-Identifier: Apache-2.0
"""stickslip plot: pictures of results without a browser."""
import math
import xml.etree.ElementTree as xml

import pytest

OSCILLATOR = """
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["2*cos(2*pi*0.5*t)"]
[[friction]]
on = "x"
limit = 0.3
[run]
step = 0.01
end_time = 40
"""


@pytest.fixture
def result(stickslip):
    stickslip.write("m.toml", OSCILLATOR)
    assert stickslip("run", "m.toml").returncode == 0
    assert stickslip("run", "m.toml", "--set", "friction.0.limit=0.6", "--out", "more").returncode == 0
    return stickslip


def test_coordinates_over_time_by_default(result):
    drawn = result.json("plot", "m")
    assert [panel["y"] for panel in drawn["panels"]] == ["x"] and drawn["panels"][0]["x"] == "t [s]"
    picture = xml.fromstring((result.folder / "plot.svg").read_text())
    assert picture.tag.endswith("svg") and len((result.folder / "plot.svg").read_text()) > 5000


@pytest.mark.parametrize("name, start", [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF"), ("p.svg", b"<?xml")])
def test_the_ending_chooses_the_format(result, name, start):
    assert result("plot", "m", "--out", name, "--dark", "--title", "Häufig").returncode == 0
    assert (result.folder / name).read_bytes().startswith(start)


def test_runs_are_laid_over_one_another_in_a_panel_per_column(result):
    drawn = result.json("plot", "m", "more/trajectory.csv", "--y", "x,r_friction1")
    assert [panel["y"] for panel in drawn["panels"]] == ["x", "r_friction1 [N or N m]"]
    assert [s["label"] for s in drawn["panels"][1]["series"]] == ["m", "more/trajectory.csv"]


def test_a_section_has_a_point_per_period_and_time_can_be_left_out(result):
    drawn = result.json("plot", "m", "--x", "x", "--y", "v_x", "--section", 2)
    assert drawn["panels"][0]["series"][0]["points"] == 21
    assert result.json("plot", "m", "--x", "x", "--y", "v_x", "--section", 2, "--after", 30)["panels"][0]["series"][0]["points"] == 6
    assert result.json("plot", "m", "--after", 39)["panels"][0]["series"][0]["points"] == 101


def test_a_spectrum_has_its_peak_at_the_frequency_of_the_force(result):
    [series] = result.json("plot", "m", "--y", "x", "--spectrum", "--after", 20)["panels"][0]["series"]
    frequency, amplitude = series["largest"]
    assert frequency == pytest.approx(0.5, abs=0.5 / 20)
    assert amplitude == pytest.approx(2 / (math.pi**2 - 1), rel=0.2)


@pytest.mark.parametrize("arguments, said", [
    (["absent"], "run a model first"),
    (["m", "--y", "y"], "no such column"),
    (["m", "--out", "p.gif"], ".svg, .png or .pdf"),
    (["m", "--spectrum", "--section", "1"], "leave --x and --section out"),
    (["m", "--section", "1e-300"], "millionth"),
    (["m", "--after", "1e9"], "no rows then"),
    (["m", "--width", "nan"], "finite"),
    (["m", "--out", "nowhere/p.svg"], "nowhere"),
])
def test_mistakes_are_named(result, arguments, said):
    wrong = result("plot", *arguments)
    assert wrong.returncode == 2 and said in wrong.stderr, wrong.stderr


def test_names_with_commas_and_cells_in_quotes(stickslip):
    stickslip.write("a.csv", 't,"force, left",message,"say ""x"""\n0,1,"a, b\nc",3\n1,2,,4\n2,4,d,5\n')
    drawn = stickslip.json("plot", "a.csv", "--y", '"force, left","say ""x"""')
    assert [panel["y"] for panel in drawn["panels"]] == ["force, left", 'say "x"']
    assert [panel["series"][0]["points"] for panel in drawn["panels"]] == [3, 3]
    assert drawn["panels"][0]["series"][0]["largest"] == [2, 4]


def test_numbers_as_large_as_there_are_have_axes(stickslip):
    stickslip.write("a.csv", "t,x\n0,-1.7e308\n1,1.7e308\n2,0\n")
    assert stickslip("plot", "a.csv", "--out", "p.svg").returncode == 0
    text = (stickslip.folder / "p.svg").read_text()
    assert "nan" not in text.lower() and "inf" not in text.lower()
    assert len(xml.fromstring(text).findall(".//{*}use")) > 20  # ticks are written


def test_a_spectrum_of_missing_numbers_is_refused_where_they_are_missing(stickslip):
    stickslip.write("a.csv", "t,x\n" + "".join(f"{0.1 * k},{'nan' if k < 10 else math.sin(k)}\n" for k in range(100)))
    wrong = stickslip("plot", "a.csv", "--spectrum", "--y", "x")
    assert wrong.returncode == 2 and "t = 0 s" in wrong.stderr and "--after" in wrong.stderr
    assert stickslip("plot", "a.csv", "--spectrum", "--y", "x", "--after", "1.0").returncode == 0


def test_a_diagram_is_drawn_as_points(stickslip):
    stickslip.write("m.toml", OSCILLATOR)
    stickslip("bifurcation", "m.toml", "--over", "friction.0.limit=0.1:1:4", "--out", "d")
    drawn = stickslip.json("plot", "d", "--out", "p.svg")
    assert drawn["panels"][0]["x"] == "friction.0.limit" and drawn["panels"][0]["y"] == "x"


@pytest.mark.parametrize("command", [["plot", "a.csv", "--out"], ["fmu", "m.toml", "--out"]])
def test_a_place_where_nothing_can_be_written_is_a_wrong_call(stickslip, command):
    stickslip.write("a.csv", "t,x\n0,1\n1,2\n")
    stickslip.write("m.toml", OSCILLATOR)
    ending = ".svg" if command[0] == "plot" else ".fmu"
    wrong = stickslip(*command, "absent/p" + ending)
    assert wrong.returncode == 2 and "absent" in wrong.stderr
    (stickslip.folder / ("p" + ending)).mkdir()
    assert stickslip(*command, "p" + ending).returncode == 2
    assert stickslip.files() == sorted(["a.csv", "m.toml", "p" + ending])
