#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the sphere pile at several sizes and writes how the cost of a step grows."""

import argparse
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import machine  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for sphere_pile.json and .md")
    parser.add_argument("--bodies", default="1000,3000,10000", help="sizes")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    box = machine("libsiconos-numerics7")
    rows = []
    for bodies in options.bodies.split(","):
        both = []
        for threads in ("1", "2"):
            done = subprocess.run([str(options.program), bodies, str(options.steps), str(options.tolerance), threads],
                                  stdout=subprocess.PIPE, text=True)
            both.append(json.loads(done.stdout))
            print(done.stdout.strip(), file=sys.stderr)
        rows.append(dict(both[0], two_threads=both[0]["wall_seconds"] / both[1]["wall_seconds"]))
    first, last = rows[0], rows[-1]
    exponent = (math.log(last["mean_ms"] / first["mean_ms"]) / math.log(last["bodies"] / first["bodies"])
                if len(rows) > 1 else None)
    lines = ["# Sphere pile", "",
             "Written by `benchmarks/run sphere_pile`. A block of spheres, ten layers high, collapses on the ground; every step is "
             f"solved to unit_free <= {options.tolerance:g} or counted as above it; CPU time of a whole step on one thread: collision search, "
             "inclusion, audit. Two threads: wall time of the run with one over that with two. The residual is the audit's, per contact and another measure.", "",
             f"Machine: {box['cpu']}, {box['cores']} cores, {box['system']}; {box['compiler']}, `{box['flags']}`; load average "
             f"{box['load_average_before']:.1f} at the start; {box['date']}.", "",
             "| bodies | steps | loaded contacts | mean ms/step | median | largest | most iterations in a step | largest residual | "
             "bytes per contact | two threads | status |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['bodies']} | {row['steps']} | {row['contacts_at_the_end']} | {row['mean_ms']:.3g} | {row['median_ms']:.3g} | "
                     f"{row['largest_ms']:.3g} | {row['most_iterations']} | {row['largest_residual']:.2g} | "
                     f"{row['bytes_per_contact']} | {row['two_threads']:.2f} | {row['status']} |")
    if exponent is not None:
        lines += ["", f"The mean cost of a step grows like n^{exponent:.2f} from {first['bodies']} to {last['bodies']} bodies."]
    text = "\n".join(lines) + "\n"
    (options.results / "sphere_pile.json").write_text(json.dumps({"machine": box, "tolerance": options.tolerance, "rows": rows, "exponent": exponent}, indent=1) + "\n")
    (options.results / "sphere_pile.md").write_text(text)
    print(text)
    return 0 if all(row["status"] == "success" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
