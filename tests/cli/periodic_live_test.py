# SPDX-License-Identifier: Apache-2.0
"""A branch while it grows: the plot in the terminal, and the report beside it."""
import json
import os
import pty
import select
import signal
import subprocess
import time

from conftest import PROGRAM

OSCILLATOR = """
[parameters]
omega = 0.3
[matrices]
mass = [[1]]
stiffness = [[1]]
force = ["cos(omega*t)"]
[[friction]]
on = "x1"
limit = 0.4
[periodic]
period = "2*pi/omega"
method = "fourier"
harmonics = 15
continue = { parameter = "omega", from = 0.3, to = 0.9, step = 0.002 }
"""


def follow(folder, *arguments, until=None):
    """Runs the program on a terminal; what it wrote there, and its exit code."""
    master, slave = pty.openpty()
    process = subprocess.Popen([PROGRAM, "periodic", "m.toml", "--out", "r", *arguments], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=slave)
    os.close(slave)
    text = b""
    while True:
        if select.select([master], [], [], 0.1)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        elif process.poll() is not None:
            break
        if until and until(text):
            process.send_signal(signal.SIGINT)
            until = None
    os.close(master)
    return text.decode(), process.wait(timeout=60)


def test_the_branch_is_drawn_in_place_and_removed(stickslip):
    stickslip.write("m.toml", OSCILLATOR)
    text, code = follow(stickslip.folder)
    assert code == 0, text
    assert "@" in text and "o" in text and "0.3" in text and "0.9" in text and "omega" in text
    assert " points, omega = " in text
    # As many lines up as were drawn, and nothing of it left below the prompt.
    assert text.count("\033[A") >= 12
    assert text.rstrip().endswith("\033[K")


def test_without_a_terminal_nothing_is_drawn(stickslip):
    stickslip.write("m.toml", OSCILLATOR.replace("0.002", "0.1"))
    result = stickslip("periodic", "m.toml", "--out", "r")
    assert result.returncode == 0 and "\033" not in result.stderr


def test_ctrl_c_keeps_the_branch_and_a_report_of_it(stickslip):
    stickslip.write("m.toml", OSCILLATOR)
    begin = []

    def some_points(text):
        if b" points, omega" in text:
            begin.append(time.monotonic())
            return True
        return False

    text, code = follow(stickslip.folder, until=some_points)
    assert code == 1, text
    summary = json.loads((stickslip.folder / "r/summary.json").read_text())
    assert summary["status"] == "interrupted" and "go on with 'stickslip periodic m.toml" in summary["message"] and "--restart r'" in summary["message"]
    points = summary["branch"]["points"]
    assert points and points[-1]["value"] < 0.9
    assert "interrupted" in (stickslip.folder / "r/report.html").read_text()
