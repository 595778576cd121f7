# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in a real pseudo-terminal, and SIGKILL at random moments."""
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import time

import h5py
import numpy
import pytest

from conftest import PROGRAM

LONG = """
[matrices]
mass = [[2, 1], [1, 2]]
stiffness = [[2, -1], [-1, 2]]
force = ["cos(0.7*t)", "cos(0.7*t + 1)"]
[[friction]]
on = "*"
limit = 0.3
[initial]
position = [4.9, 4.3]
[run]
step = 0.003
end_time = 1e6
output_step = 0.03
[run.moreau]
locate_reversals = false
"""


def read_terminal(fd, seconds):
    text, end = b"", time.time() + seconds
    while time.time() < end:
        ready, _, _ = select.select([fd], [], [], 0.1)
        if ready:
            try:
                chunk = os.read(fd, 4096)
            except OSError:
                break
            if not chunk:
                break
            text += chunk
    return text.decode()


def test_ctrl_c_ends_the_bar_keeps_the_results_and_exits_with_1(stickslip):
    stickslip.write("long.toml", LONG)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(stickslip.folder)
        os.execv(PROGRAM, [PROGRAM, "run", "long.toml"])
    before = read_terminal(terminal, 1.5)
    assert "running [" in before and "%" in before, before
    os.write(terminal, b"\x03")  # the terminal turns it into SIGINT
    after = read_terminal(terminal, 10)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1
    assert "interrupted" in after and "everything up to there is kept" in after
    # The bar is gone from its line before anything else is printed.
    assert after.rfind("\x1b[K") > after.rfind("running [")
    summary = json.loads((stickslip.folder / "long/summary.json").read_text())
    assert summary["status"] == "interrupted" and 0 < summary["end_time"] < 1e6
    with h5py.File(stickslip.folder / "long/result.h5") as file:
        assert file["t"][-1] == pytest.approx(summary["end_time"], abs=0.04)
    assert (stickslip.folder / "long/report.html").exists()


def test_a_run_killed_at_20_random_moments_leaves_a_file_that_holds_what_was_flushed(stickslip):
    stickslip.write("long.toml", LONG)
    random.seed(7)
    with_rows = 0
    reference = None
    for trial in range(20):
        process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", f"r{trial}"], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.02, 0.9))
        process.send_signal(signal.SIGKILL)
        process.wait()
        path = stickslip.folder / f"r{trial}/result.h5"
        if not path.exists():
            continue  # killed before the first row
        with h5py.File(path, "r", libver="latest", swmr=True) as file:
            rows = len(file["t"])
            assert len(file["position"]) >= rows and len(file["velocity"]) >= rows and len(file["reaction"]) >= rows
            t, position = file["t"][:rows], file["position"][:rows]
        if rows == 0:
            continue
        with_rows += 1
        assert numpy.allclose(t, 0.03 * numpy.arange(rows), rtol=0, atol=1e-9)
        assert numpy.isfinite(position).all()
        if reference is None or len(reference) < rows:
            reference, position = position, reference if reference is not None else position[:0]
        assert numpy.array_equal(reference[:len(position)], position)  # every run tells the same story
    assert with_rows >= 10


def test_a_killed_run_can_be_restarted(stickslip):
    stickslip.write("long.toml", LONG)
    process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", "killed"], cwd=stickslip.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.2)
    process.kill()
    process.wait()
    refused = stickslip("run", "long.toml", "--restart", "killed", "--out", "second", "--set", "run.end_time=1")
    assert refused.returncode == 2
    stored = float(re.search(r"stored state is at t = ([0-9.e+]+) s", refused.stderr).group(1))  # how far it came
    assert stored > 1
    end = stored + 3
    second = stickslip.json("run", "long.toml", "--restart", "killed", "--out", "second", "--set", f"run.end_time={end!r}")
    assert second["status"] == "success" and second["end_time"] == pytest.approx(end)
    assert second["steps"] == pytest.approx(end / 0.003, abs=2)  # those of the killed run count
    with h5py.File(stickslip.folder / "killed/result.h5", "r", libver="latest", swmr=True) as file:
        rows = len(file["t"])
        position = file["position"][:rows]
    with h5py.File(stickslip.folder / "second/result.h5") as file:
        t = file["t"][:]
        common = min(rows, len(t))
        assert common > 30 and numpy.array_equal(file["position"][:common], position[:common])
    assert numpy.allclose(t[:-1], 0.03 * numpy.arange(len(t) - 1), rtol=0, atol=1e-9)  # one trajectory from the start


ONE_INTERVAL = """
[matrices]
size = 20
mass = { diagonal = 1.0 }
stiffness = { tridiagonal = [-1, 2, -1] }
force = "cos(0.7*t + i)"
[[friction]]
on = "*"
limit = 0.3
[initial]
position = 5
[run]
scheme = "event"
end_time = 1e7
output_step = 1e7
"""


@pytest.mark.parametrize("scheme, set_", [("viscoelastic", []), ("event", []), ("event", ["run.event.flow=\"integrator\""])])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_inside_one_integration_interval_ends_the_run_there(stickslip, scheme, set_, number):
    """Nothing is due before 1e7 s, days away: the run ends only if the request is heard inside the interval."""
    stickslip.write("long.toml", ONE_INTERVAL)
    command = [PROGRAM, "run", "long.toml", "--scheme", scheme, "--out", "r"]
    for setting in set_:
        command += ["--set", setting]
    process = subprocess.Popen(command, cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first_row = stickslip.folder / "r/result.h5"
    while not first_row.exists():  # the row of the start: the integration has begun
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 1
    summary = json.loads((stickslip.folder / "r/summary.json").read_text())
    assert summary["status"] == "interrupted" and "everything up to there is kept" in summary["message"]
    assert 0 <= summary["end_time"] < 1e7


@pytest.mark.parametrize("arguments", [["--schemes", "event"], ["--schemes", "moreau", "--steps", "0.001"]])
def test_a_comparison_hears_a_request_inside_a_run(stickslip, arguments):
    stickslip.write("long.toml", ONE_INTERVAL)
    process = subprocess.Popen([PROGRAM, "compare", "long.toml", "--out", "c", *arguments], cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Handlers are set before anything is computed; until then SIGTERM would end the process at once.
    status = f"/proc/{process.pid}/status"
    while not int(re.search(r"SigCgt:\s*([0-9a-f]+)", open(status).read()).group(1), 16) & 1 << (signal.SIGTERM - 1):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert json.loads((stickslip.folder / "c/summary.json").read_text())["status"] == "interrupted"
