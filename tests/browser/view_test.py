# SPDX-License-Identifier: Apache-2.0
"""stickslip view: who is answered, what is shown, live progress, overlays."""
import http.client
import json
import os
import signal
import subprocess
import urllib.parse

import pytest
from headless_chromium import Page, find_chromium

PROGRAM = os.environ.get("STICKSLIP")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="STICKSLIP does not name the program")
MODEL = """
title = "A mass <b>&amp; friction"
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["2*cos(2*t)"]
[[friction]]
on = "x"
limit = 0.3
[run]
step = 0.01
end_time = 20
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    (root / "m.toml").write_text(MODEL)
    (root / "secret.txt").write_text("not a result")
    for name, limit in (("first", 0.3), ("below/second run", 0.6)):
        subprocess.run([PROGRAM, "run", root / "m.toml", "--set", f"friction.0.limit={limit}", "--out", root / "shown" / name], check=True, capture_output=True)
    (root / "shown/first/link.txt").symlink_to(root / "secret.txt")
    return root


@pytest.fixture(scope="module")
def viewer(folder):
    process = subprocess.Popen([PROGRAM, "view", folder / "shown", "--json"], stdout=subprocess.PIPE, text=True)
    address = json.loads(process.stdout.readline())["address"]
    yield urllib.parse.urlparse(address)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0


def get(viewer, path, host=None):
    connection = http.client.HTTPConnection(viewer.hostname, viewer.port)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{viewer.port}")
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read(), answer


def test_only_this_host_with_the_token_is_answered(viewer):
    assert viewer.hostname == "127.0.0.1" and len(viewer.path.strip("/")) == 32
    assert get(viewer, viewer.path)[0] == 200
    assert get(viewer, viewer.path, host=f"localhost:{viewer.port}")[0] == 200
    other = "/" + ("1" if viewer.path[1] == "0" else "0") + viewer.path[2:]
    for path, host in (("/", None), ("/results.json", None), (other, None), (viewer.path, "evil.example"), (viewer.path, f"evil.example:{viewer.port}"),
                       (viewer.path.rstrip("/"), None)):
        status, body, _ = get(viewer, path, host)
        assert status == 403 and b"Results" not in body, (path, host)


def test_a_port_belongs_to_one_viewer(folder, viewer):
    second = subprocess.run([PROGRAM, "view", folder / "shown", "--json", "--port", str(viewer.port)], capture_output=True, text=True)
    assert second.returncode == 2 and "cannot listen" in second.stderr


def test_pages_may_load_nothing_from_elsewhere(viewer):
    policy = get(viewer, viewer.path)[2].getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy and "http" not in policy


def test_results_below_the_folder_are_listed(viewer):
    listed = json.loads(get(viewer, viewer.path + "results.json")[1])["results"]
    assert [r["name"] for r in listed] == ["0:below/second run", "0:first"]
    assert all(r["status"] == "success" and r["scheme"] == "moreau" and r["report"] for r in listed)
    assert [r["label"] for r in listed] == ["below/second run", "first"] and {r["table"] for r in listed} == {"trajectory.csv"}


def test_files_outside_the_folder_are_not_given(viewer):
    given = viewer.path + "file/0:first/"
    assert get(viewer, given + "trajectory.csv")[1].startswith(b"t,x,")
    assert get(viewer, viewer.path + "file/" + urllib.parse.quote("0:below/second run") + "/report.html")[0] == 200
    for path in ("link.txt", "../../secret.txt", "..%2f..%2fsecret.txt", "%2e%2e/%2e%2e/secret.txt", "absent", "..", "%00"):
        status, body, _ = get(viewer, given + path)
        assert status in (400, 404) and b"not a result" not in body, path


def test_overlays_are_saved_as_pictures(viewer):
    asked = viewer.path + "figure?r=0:first&r=0:below/second%20run&x=x&y=v_x&kind=phase&as="
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        status, body, _ = get(viewer, asked + ending)
        assert status == 200 and body.startswith(start)
    assert get(viewer, asked + "gif")[0] == 400


def test_mistakes_are_answered_with_words(viewer):
    for query, said in (("", "choose a result"), ("r=0:absent", "no result"), ("r=0:first&y=z", "no such column"), ("r=0:first&after=soon", "soon"),
                        ("r=0:first&kind=section&x=x&y=v_x&period=1e-300", "millionth")):
        status, body, _ = get(viewer, viewer.path + "figure?" + query)
        assert status == 400 and said in body.decode(), (query, body)


def test_a_run_that_goes_on_is_shown_with_its_progress(folder, viewer):
    process = subprocess.Popen([PROGRAM, "run", folder / "m.toml", "--set", "run.end_time=1e5", "--set", "run.output_step=1", "--out", folder / "shown/long"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seen = {}
        while seen.get("status") != "running" or seen.get("rows", 0) < 2:
            assert process.poll() is None, "it ended before it was seen"
            seen = {r["name"]: r for r in json.loads(get(viewer, viewer.path + "results.json")[1])["results"]}.get("0:long", {})
        assert seen["t"] > 0
    finally:
        process.kill()
        process.wait()
    os.utime(folder / "shown/long/result.h5", (0, 0))  # a while later
    listed = {r["name"]: r for r in json.loads(get(viewer, viewer.path + "results.json")[1])["results"]}
    assert listed["0:long"]["status"] == "killed"
    status, page, _ = get(viewer, viewer.path + "figure?r=0:long&y=x")
    assert status == 200 and b"Comparison of results" in page


@pytest.fixture(scope="module")
def browser():
    if not find_chromium():
        pytest.skip("chromium is not installed: the page cannot be drawn")
    page = Page()
    yield page
    page.close()


def test_two_results_are_laid_over_one_another(browser, viewer):
    browser.emulate(1200, 1000)
    browser.call("Page.navigate", url=viewer.geturl())
    browser.wait_for("document.body?.dataset.ready === 'yes' && document.querySelectorAll('#list tr').length >= 2")
    assert browser.evaluate("document.querySelector('#list').innerText.includes('A mass <b>&amp; friction')")  # as text
    for name in ("0:first", "0:below/second run"):
        browser.evaluate(f"[...document.querySelectorAll('#list tr')].find(r => r.dataset.name === '{name}').querySelector('input').click()")
    browser.wait_for("document.querySelector('#y').options.length > 2")
    browser.evaluate("document.querySelector('#kind').value = 'phase', document.querySelector('#x').value = 'x', document.querySelector('#y').value = 'v_x'")
    browser.evaluate("document.querySelector('#draw button').click()")
    browser.wait_for("document.querySelector('#views iframe')?.contentDocument?.documentElement?.dataset.ready === 'true'")
    series = browser.evaluate("document.querySelector('#views iframe').contentDocument.body.innerText")
    assert "first" in series and "below/second run" in series and "v_x over x" in series
    assert not [r for r in browser.requests if not r.startswith((viewer.geturl(), "data:", "blob:")) and not r.endswith("/favicon.ico")]


def test_keys_choose_and_filter(browser, viewer):
    browser.call("Page.navigate", url=viewer.geturl())
    browser.wait_for("document.body?.dataset.ready === 'yes' && document.querySelectorAll('#list tr').length >= 2")
    browser.evaluate("(f => { f.value = 'first'; f.oninput(); })(document.querySelector('#filter'))")
    assert browser.evaluate("document.querySelectorAll('#list tr').length") == 1
    browser.evaluate("document.onkeydown({key: ' ', target: document.body, preventDefault() {}})")
    browser.wait_for("document.querySelector('#list input').checked")
    dark = browser.evaluate("(document.querySelector('#theme').click(), document.documentElement.dataset.theme)")
    assert dark == "dark" and browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 25, 29)"
