# SPDX-License-Identifier: Apache-2.0
"""Nothing ends the program but its own decision: signals, full disks, closed pipes, absurd paths, endless outputs."""
import fcntl
import json
import os
import pty
import resource
import select
import shutil
import signal
import subprocess
import termios
import threading

import h5py
import numpy
import pytest

from conftest import PROGRAM
from interrupt_test import LONG
from run_test import BLOCK

EVERY_COMMAND = [
    ["--help"], ["--version"], ["run", "--help"], ["list", "schemes"], ["list", "schemes", "--json"],
    ["check", "block.toml"], ["check", "block.toml", "--json"], ["run", "block.toml"], ["run", "block.toml", "--json"],
    ["compare", "block.toml", "--schemes", "splitting", "--steps", "0.02,0.01"], ["compare", "block.toml", "--schemes", "splitting", "--steps", "0.02,0.01", "--json"],
]


@pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=" ".join)
def test_output_that_cannot_be_written_is_no_success(stickslip, arguments):
    stickslip.write("block.toml", BLOCK)
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, *arguments], cwd=stickslip.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert result.returncode == 1, result.stderr
    assert result.stderr == "stickslip: cannot write to standard output: No space left on device\n"
    if arguments[0] == "run" and "--help" not in arguments:  # what was computed is kept
        assert json.loads((stickslip.folder / "block/summary.json").read_text())["status"] == "success"


@pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=" ".join)
def test_a_reader_that_leaves_is_no_failure(stickslip, arguments):
    stickslip.write("block.toml", BLOCK)
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run([PROGRAM, *arguments], cwd=stickslip.folder, stdout=write, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(write)
    assert result.returncode == 0 and result.stderr == ""


def test_an_error_stream_that_is_full_changes_nothing(stickslip):
    stickslip.write("block.toml", BLOCK)
    with open("/dev/full", "w") as full:
        wrong = subprocess.run([PROGRAM, "run", "absent.toml"], cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=full, timeout=120)
        right = subprocess.run([PROGRAM, "run", "block.toml"], cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=full, timeout=120)
    assert (wrong.returncode, right.returncode) == (2, 0)


@pytest.mark.parametrize("arguments", [
    ["run", "x" * 300 + ".toml"], ["check", "x" * 300], ["run", "block.toml", "--out", "x" * 300],
    ["run", "block.toml", "--out", "x" * 300 + "/y"], ["run", "block.toml", "--restart", "x" * 300],
    ["run", "--from", "x" * 300], ["solve", "x" * 300], ["compare", "block.toml", "--out", "x" * 300, "--schemes", "splitting", "--steps", "0.02,0.01"],
    ["run", "block.toml", "--out", "x/" * 3000],
])
def test_a_path_that_no_file_system_takes_is_a_wrong_call(stickslip, arguments):
    stickslip.write("block.toml", BLOCK)
    result = stickslip(*arguments)
    assert result.returncode == 2, (result.returncode, result.stderr)
    assert result.stderr.startswith("stickslip: ") and "too long" in result.stderr


@pytest.mark.parametrize("setting, words", [
    ("run.output_step=5e-324", "run.output_step = 4.94066e-324"),
    ("run.output_step=1e-12", "run.output_step = 1e-12 s makes 2e+12 rows"),
    ("run.step=1e-9", "run.step = 1e-09 s makes 2e+09 rows"),
    ("run.steps=1000000000", "run.steps = 1000000000 makes 1e+09 rows"),
])
@pytest.mark.parametrize("command", ["check", "run"])
def test_more_rows_than_can_be_stored_are_refused_before_anything_runs(stickslip, command, setting, words):
    stickslip.write("block.toml", BLOCK)
    result = stickslip(command, "block.toml", "--set", setting, timeout=60)
    assert result.returncode == 2
    assert words in result.stderr and "give" in result.stderr, result.stderr
    assert stickslip.files() == ["block.toml"]


def test_the_remedy_against_too_many_rows_helps(stickslip):
    stickslip.write("block.toml", BLOCK)
    refused = stickslip("check", "block.toml", "--set", "run.step=1e-9")
    remedy = refused.stderr.split("output_step = ")[1].split()[0]
    assert stickslip("check", "block.toml", "--set", "run.step=1e-9", "--set", f"run.output_step={remedy}").returncode == 0
    far = ["--set", "run.start_time=1e9", "--set", "run.end_time=1000000001", "--set", "run.step=1e-7"]
    assert "below the resolution" in stickslip("check", "block.toml", *far).stderr


def limited(bytes_):
    def apply():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))
    return apply


def test_a_full_disk_stops_the_run_with_one_message_and_keeps_what_was_stored(stickslip):
    stickslip.write("long.toml", LONG)
    result = subprocess.run([PROGRAM, "run", "long.toml", "--out", "r", "--set", "run.output_step=0.003", "--set", "run.end_time=1e5"], cwd=stickslip.folder,
                            capture_output=True, text=True, preexec_fn=limited(3_000_000), timeout=300)
    assert result.returncode == 1, result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr  # in particular no "infinite loop closing library" of HDF5
    assert "result.h5: cannot write: File too large" in lines[0] and "stickslip run --restart r" in lines[0]
    with h5py.File(stickslip.folder / "r/result.h5", "r", libver="latest", swmr=True) as file:
        rows = len(file["t"])
        stored = file["t"][:rows]
    assert rows > 1000 and numpy.allclose(stored, 0.003 * numpy.arange(rows), rtol=0, atol=1e-9)
    # With room the advice of the message works.
    end = float(stored[-1]) + 1
    again = stickslip.json("run", "--restart", "r", "--set", f"run.end_time={end}")
    assert again["status"] == "success" and again["end_time"] == end
    table = numpy.genfromtxt(stickslip.folder / "r/trajectory.csv", delimiter=",", names=True)
    assert numpy.allclose(numpy.diff(table["t"]), 0.003, rtol=0, atol=1e-9) or abs(table["t"][-1] - end) < 1e-9


def test_a_disk_that_is_full_when_the_page_is_written_says_how_to_write_it(stickslip):
    stickslip.write("block.toml", BLOCK + "# " + "<" * 2_000_000 + "\n")  # every result holds it, and the page escapes it
    assert stickslip("run", "block.toml", "--out", "whole").returncode == 0
    size = {path.name: path.stat().st_size for path in (stickslip.folder / "whole").iterdir()}
    room = max(size["result.h5"], size["summary.json"]) + 4096
    assert room < size["report.html"]
    result = subprocess.run([PROGRAM, "run", "block.toml", "--out", "r"], cwd=stickslip.folder,
                            capture_output=True, text=True, preexec_fn=limited(room), timeout=300)
    assert result.returncode == 1, result.stderr
    assert len(result.stderr.splitlines()) == 1 and "report.html: cannot write: File too large" in result.stderr and "--restart r" in result.stderr
    assert stickslip("run", "--restart", "r").returncode == 0
    assert (stickslip.folder / "r/report.html").exists()


WRITE = {"x86_64": "1", "aarch64": "64"}.get(os.uname().machine)  # number of the system call


def wait_until_blocked_in_write(pid):
    while True:
        try:
            with open(f"/proc/{pid}/syscall") as file:
                fields = file.read().split()
        except OSError as error:
            pytest.skip(f"this machine does not show what a process waits for: {error}")
        if fields and fields[0] == WRITE and int(fields[1], 16) == 2:  # standard error
            return


@pytest.mark.skipif(WRITE is None, reason="the number of the system call write is not known for this machine")
def test_ctrl_c_while_the_bar_is_drawn_a_hundred_times(stickslip):
    """The terminal is held, so that the signal always meets the program inside its write."""
    stickslip.write("long.toml", LONG)
    for trial in range(100):
        master, slave = pty.openpty()
        termios.tcflow(slave, termios.TCOOFF)
        process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", "r", "--set", "run.end_time=1e5"], cwd=stickslip.folder,
                                   stdin=slave, stdout=subprocess.PIPE, stderr=slave)
        wait_until_blocked_in_write(process.pid)
        process.send_signal(signal.SIGINT if trial % 2 == 0 else signal.SIGTERM)
        termios.tcflow(slave, termios.TCOON)
        out, _ = process.communicate(timeout=120)
        os.close(slave)
        text = b""
        while select.select([master], [], [], 0)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        assert process.returncode == 1, (trial, process.returncode, text)
        assert b"everything up to there is kept" in text
        summary = json.loads((stickslip.folder / "r/summary.json").read_text())
        assert summary["status"] == "interrupted" and summary["end_time"] > 0


def test_the_first_time_left_is_not_zero(stickslip):
    stickslip.write("long.toml", LONG)
    master, slave = pty.openpty()
    process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", "r"], cwd=stickslip.folder, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    while text.count(b"running [") < 10:
        text += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            if not os.read(master, 4096):
                break
        except OSError:
            break
    process.wait()
    os.close(master)
    assert b" 0 s left" not in text and b"left" in text


def test_a_signal_ends_the_writing_of_the_results_and_a_restart_finishes_it(stickslip):
    stickslip.write("block.toml", BLOCK)
    # The text of the run's tables goes into a pipe that nobody reads: the program is caught inside their writing.
    folder = stickslip.folder / "r"
    folder.mkdir()
    os.mkfifo(folder / "trajectory.csv.part")
    process = subprocess.Popen([PROGRAM, "run", "block.toml", "--out", "r", "--set", "run.output_step=1e-5"], cwd=stickslip.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(folder / "trajectory.csv.part", "rb") as pipe:  # opens when the writer does
        pipe.read(1000)
        process.send_signal(signal.SIGTERM)
        while pipe.read(1 << 16):
            pass
    _, error = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "interrupted while the results were written" in error and "'stickslip run --restart r' writes the rest" in error
    assert sorted(p.name for p in folder.iterdir()) == ["result.h5"]
    assert stickslip("run", "--restart", "r").returncode == 0
    assert sorted(p.name for p in folder.iterdir()) == ["events.csv", "report.html", "result.h5", "summary.json", "trajectory.csv"]
    assert json.loads((folder / "summary.json").read_text())["steps"] == 200
    assert len((folder / "trajectory.csv").read_text().splitlines()) == 200002


def started(stickslip, *arguments):
    """A run whose result.h5 exists."""
    process = subprocess.Popen([PROGRAM, "run", "long.toml", "--out", "r", *arguments], cwd=stickslip.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (stickslip.folder / "r/result.h5").exists():
        assert process.poll() is None, process.communicate()
    return process


def test_a_run_never_writes_into_the_folder_that_took_the_place_of_its_own(stickslip):
    stickslip.write("long.toml", LONG)
    stickslip.write("block.toml", BLOCK)
    process = started(stickslip)
    os.rename(stickslip.folder / "r", stickslip.folder / "moved")
    assert stickslip("run", "block.toml", "--out", "r").returncode == 0
    out, error = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "removed, renamed or replaced" in error and "results: r" not in out
    summary = json.loads((stickslip.folder / "r/summary.json").read_text())
    assert summary["title"] == "Block" and summary["status"] == "success"
    assert len((stickslip.folder / "r/trajectory.csv").read_text().splitlines()) == 202
    with h5py.File(stickslip.folder / "r/result.h5") as file:
        assert file.attrs["title"] == b"Block" and len(file["t"]) == 201
    assert sorted(p.name for p in (stickslip.folder / "moved").iterdir()) == ["result.h5"]
    # What was stored is good; a run that lost its folder within its first moments has not stored a state, and says nothing of one.
    assert (stickslip("run", "--restart", "moved", "--set", "run.end_time=1000").returncode == 0) == ("--restart" in error)


@pytest.mark.parametrize("what", ["r", "r/result.h5"])
def test_results_that_are_deleted_end_the_run(stickslip, what):
    stickslip.write("long.toml", LONG)
    process = started(stickslip)
    path = stickslip.folder / what
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    _, error = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "r/result.h5: the file was removed" in error and len(error.splitlines()) == 1


def test_a_folder_that_is_replaced_while_the_tables_are_written_keeps_what_is_its_own(stickslip):
    stickslip.write("block.toml", BLOCK)
    folder, moved = stickslip.folder / "r", stickslip.folder / "moved"
    folder.mkdir()
    # The program waits in the pipe until somebody reads; a table larger than its buffer keeps it there until all is read.
    os.mkfifo(folder / "trajectory.csv.part")
    process = subprocess.Popen([PROGRAM, "run", "block.toml", "--out", "r", "--set", "run.step=1e-4"], cwd=stickslip.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (folder / "result.h5").exists():
        pass
    with open(folder / "trajectory.csv.part", "rb") as pipe:
        os.rename(folder, moved)
        folder.mkdir()
        while pipe.read(1 << 16):
            pass
    _, error = process.communicate(timeout=120)
    assert process.returncode == 1 and "renamed, removed or replaced" in error
    assert list(folder.iterdir()) == []
    assert "summary.json" not in [p.name for p in moved.iterdir()]


def test_a_disk_that_is_full_early_is_told_as_it_is(stickslip):
    """Whether the message promises a restart, and whether there is one, is the same wherever the room ends."""
    stickslip.write("long.toml", LONG)
    promised = set()
    for room in (100, 5_000, 20_000, 30_000, 50_000, 80_000, 120_000, 200_000, 300_000):
        shutil.rmtree(stickslip.folder / "r", ignore_errors=True)
        result = subprocess.run([PROGRAM, "run", "long.toml", "--out", "r", "--set", "run.end_time=1e5"], cwd=stickslip.folder,
                                capture_output=True, text=True, preexec_fn=limited(room), timeout=300)
        assert result.returncode == 1 and "File too large" in result.stderr, (room, result.stderr)
        assert len(result.stderr.splitlines()) == 1
        promise = "--restart r" in result.stderr
        promised.add(promise)
        if not (stickslip.folder / "r/result.h5").exists():
            assert not (stickslip.folder / "r").exists() and not promise, room
            continue
        again = stickslip("run", "--restart", "r", "--set", "run.end_time=100")
        assert (again.returncode == 0) == promise, (room, result.stderr, again.stderr)
    assert promised == {False, True}


def test_a_reader_with_a_lock_does_not_keep_the_writer_out(stickslip):
    stickslip.write("block.toml", BLOCK)
    ended = threading.Event()
    seen = 0

    def look():
        nonlocal seen
        while not ended.is_set():
            try:
                with open(stickslip.folder / "r/result.h5", "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH)
                    seen += 1
                    ended.wait(0.002)
            except OSError:
                pass

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for _ in range(20):
            shutil.rmtree(stickslip.folder / "r", ignore_errors=True)
            result = stickslip("run", "block.toml", "--out", "r")
            assert result.returncode == 0, result.stderr
    finally:
        ended.set()
        reader.join()
    assert seen > 0


@pytest.mark.parametrize("arguments", [
    ["run", "block.toml", "--scheme", ""], ["run", "block.toml", "--out", ""], ["run", ""], ["run", "block.toml", "--restart", ""],
    ["compare", "block.toml", "--steps", ""], ["compare", "block.toml", "--schemes", ""], ["compare", "block.toml", "--epsilons", ""],
    ["solve", "x.hdf5", "--compare", ""], ["solve", "x.hdf5", "--out="], ["run", "block.toml", "--set", ""],
], ids=" ".join)
def test_an_empty_value_is_refused(stickslip, arguments):
    stickslip.write("block.toml", BLOCK)
    result = stickslip(*arguments)
    assert result.returncode == 2 and result.stderr.startswith("stickslip: "), result.stderr
    assert stickslip.files() == ["block.toml"]


def test_jumps_are_searched_with_an_ear_for_signals(stickslip):
    stickslip.write("jumps.toml", BLOCK.replace("mass = [[1]]", 'mass = [[1]]\nforce = ["sign(sin(1e7*t))"]'))
    process = subprocess.Popen([PROGRAM, "run", "jumps.toml", "--set", "run.end_time=100", "--set", "run.step=0.01"], cwd=stickslip.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    caught = 0
    while not caught & 1 << signal.SIGINT - 1:  # until the program listens
        with open(f"/proc/{process.pid}/status") as status:
            caught = int(next(line for line in status if line.startswith("SigCgt")).split()[1], 16)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 1 and "stopped at t = 0 s" in error
    summary = json.loads((stickslip.folder / "jumps/summary.json").read_text())
    assert summary["status"] == "interrupted" and summary["steps"] == 0


def test_no_room_for_a_thread_is_no_bug(stickslip):
    from solve_test import block
    block(stickslip.folder / "block.hdf5")

    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 33, resource.RLIM_INFINITY))  # of the thread
        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
    result = subprocess.run([PROGRAM, "solve", "block.hdf5"], cwd=stickslip.folder, capture_output=True, text=True, preexec_fn=limit, timeout=60)
    assert result.returncode == 1
    assert "out of memory or threads" in result.stderr and "bug" not in result.stderr
