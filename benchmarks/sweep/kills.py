#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps on two MPI ranks that are killed (kill -9) at random times, one rank or all processes: each one that goes on must
end with the same bits as one that was left alone.

    benchmarks/sweep/kills.py --program build/release/bin/stickslip [--rounds 10] [--seed 1]
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

from compare import MODEL

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def processes_below(parent):
    """mpirun's ranks."""
    below = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        if int(stat.rsplit(")", 1)[1].split()[1]) == parent:
            below.append(int(entry.name))
    return below


def numbers(path):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in ("swept", "outputs", "status", "message")}


def same(first, second):
    if (first / "sweep.csv").read_bytes() != (second / "sweep.csv").read_bytes():
        return False
    a, b = numbers(first / "sweep.h5"), numbers(second / "sweep.h5")
    return all(a[name].tobytes() == b[name].tobytes() and a[name].dtype == b[name].dtype for name in a) and numpy.size(a["outputs"]) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=4000)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    program = str(pathlib.Path(arguments.program).resolve())
    sweep = ["mpirun", "--oversubscribe", "-n", "2", program, "sweep", "m.toml", "--threads", "1", "--over", f"k=1:4:{arguments.runs}", "--set",
             "sweep.keep=['final','events']", "--json", "--out"]
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "m.toml").write_text(MODEL.replace("END", "5"))
        begin = time.monotonic()
        subprocess.run([*sweep, "whole"], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
        whole = time.monotonic() - begin
        print(f"{arguments.runs} runs on two ranks, left alone: {whole:.2f} s")
        for k in range(arguments.rounds):
            out, kills = f"part{k}", 0
            while True:  # until one goes through
                process = subprocess.Popen([*sweep, out], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                at = draw.uniform(0, whole)
                try:
                    if kills == 0 or draw.random() < 0.3:
                        process.wait(at)
                    else:
                        process.wait()
                    break
                except subprocess.TimeoutExpired:
                    ranks = [pid for pid in processes_below(process.pid)]
                    victims = [process.pid, *ranks] if draw.random() < 0.5 or not ranks else [draw.choice(ranks)]
                    for victim in victims:
                        try:
                            os.kill(victim, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    process.wait()
                    kills += 1
                    while any(pathlib.Path(f"/proc/{pid}").exists() and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                              for pid in ranks if pathlib.Path(f"/proc/{pid}").exists()):
                        time.sleep(0.01)  # mpirun's end of the others
                    print(f"round {k + 1}: killed {'all' if len(victims) > 1 else 'one rank'} after {at:.2f} s", flush=True)
            good = process.returncode == 0 and same(folder / "whole", folder / out)
            bad += not good
            print(f"round {k + 1}: {kills} kills, {'the same bits' if good else 'DIFFERENT'}", flush=True)
    print(f"{arguments.rounds - bad} of {arguments.rounds} the same")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
