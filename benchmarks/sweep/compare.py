#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""10^4 short simulations by `stickslip sweep`, against a bare loop over the library; two MPI ranks against one."""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

MODEL = """
[parameters]
k = 2.0
[matrices]
coordinates = ["x"]
mass = [[1]]
damping = [[0.1]]
stiffness = [["k"]]
force = ["1.5*sin(2*t)"]
[[friction]]
on = "x"
limit = 1.0
[initial]
position = [0.5]
[run]
scheme = "moreau"
step = 0.01
end_time = END
"""


def timed(command, folder):
    """Wall-clock and processor seconds of a command with everything that it starts."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--bare-loop", required=True)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--end-time", default="10", help="of each simulation [s]; 100 steps per second")
    parser.add_argument("--results", type=pathlib.Path, help="folder of sweep.json and sweep.md")
    arguments = parser.parse_args()
    sweep = [arguments.program, "sweep", "m.toml", "--over", "k=1:4:100", "--over", "friction.0.limit=0.1:2:100", "--set",
             "sweep.keep=['final.position']", "--json", "--fresh", "--out", "r"]
    commands = {"bare loop": [arguments.bare_loop, "m.toml", "100", "100"], "sweep, 1 thread": sweep + ["--threads", "1"],
                "sweep, 2 threads": sweep + ["--threads", "2"],
                "mpirun -n 1": ["mpirun", "-n", "1", *sweep, "--threads", "1"],
                "mpirun -n 2": ["mpirun", "-n", "2", *sweep, "--threads", "1"]}
    times = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "m.toml").write_text(MODEL.replace("END", arguments.end_time))
        for _ in range(arguments.repetitions):  # interleaved: what else runs on the machine meets all alike
            for name, command in commands.items():
                times[name].append(timed(command, folder))
    result = {"machine": machine.machine("libsiconos-kernel-dev"), "runs": 10000, "end_time": float(arguments.end_time),
              "wall": {n: statistics.median(t[0] for t in v) for n, v in times.items()},
              "processor": {n: statistics.median(t[1] for t in v) for n, v in times.items()},
              "best_wall": {n: min(t[0] for t in v) for n, v in times.items()}}
    wall, used, best = result["wall"], result["processor"], result["best_wall"]
    result["per_core"] = {"processor": used["bare loop"] / used["sweep, 1 thread"],
                          "wall": wall["bare loop"] / wall["sweep, 1 thread"],
                          "best_wall": best["bare loop"] / best["sweep, 1 thread"]}
    result["two_ranks"] = {"wall": wall["mpirun -n 1"] / wall["mpirun -n 2"],
                           "best_wall": best["mpirun -n 1"] / best["mpirun -n 2"],
                           "processor": used["mpirun -n 1"] / used["mpirun -n 2"]}
    lines = ["# Sweeps", "", f"10,000 simulations of {float(arguments.end_time) * 100:.0f} steps each; median of "
             f"{arguments.repetitions} interleaved repetitions, whole programs from start to end with all files written. "
             f"Load average before: {result['machine']['load_average_before']:.1f} on {result['machine']['cores']} cores.", "",
             "| | wall clock [s] | best [s] | processor [s] |", "|---|---|---|---|"]
    lines += [f"| {n} | {wall[n]:.2f} | {best[n]:.2f} | {used[n]:.2f} |" for n in commands]
    lines += ["", f"Throughput per core against the bare loop (processor time): {100 * result['per_core']['processor']:.1f} % "
              f"(wall clock {100 * result['per_core']['wall']:.1f} %, best of all {100 * result['per_core']['best_wall']:.1f} %). "
              f"Two ranks against one: {result['two_ranks']['wall']:.2f} times (best of all {result['two_ranks']['best_wall']:.2f}; "
              f"processor time {result['two_ranks']['processor']:.3f} times).", ""]
    print("\n".join(lines))
    if arguments.results:
        (arguments.results / "sweep.json").write_text(json.dumps(result, indent=2) + "\n")
        (arguments.results / "sweep.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
