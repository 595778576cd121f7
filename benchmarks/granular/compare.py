#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Physics of heaps of balls with error bars: angle of repose over mu, Janssen's law in a silo, discharge through an opening, and a heap at rest.

All but the rest are thin slices: one layer of balls between two smooth walls (stated in the table). Each point is the mean of
several starts with other disturbances, with its standard error.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import machine  # noqa: E402

HEAD = """
[parameters]
r = 0.01
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "ball"
count = {count}
mass = "2500*4/3*pi*r^3"
position_0 = ["{x}", 0, "{z}"]
[[shape]]
body = "ball"
kind = "sphere"
radius = "r"
# The walls of the slice: smooth, and so heavy that nothing moves them.
[[body]]
name = "glass"
mass = 1e4
inertia = [1e3, 1e3, 1e3]
force = [0, 0, 98100]
[[shape]]
body = "glass"
kind = "plane"
normal = [0, 1, 0]
position = [0, "-1.001*r", 0]
[[shape]]
body = "glass"
kind = "plane"
normal = [0, -1, 0]
position = [0, "1.001*r", 0]
[[contact]]
name = "slice"
between = ["ball", "glass"]
mu = 0
"""
RUN = """
[run]
scheme = "moreau"
step = {step}
end_time = {end}
output_step = {output}
"""


def run(options, folder, name, text):
    """Rows of trajectory.csv as dicts of numbers, and the summary; None where the run did not end."""
    path = folder / f"{name}.toml"
    path.write_text(text)
    out = folder / name
    done = subprocess.run([str(options.program), "run", str(path), "--out", str(out), "--json"], capture_output=True, text=True)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)
    with open(out / "trajectory.csv", newline="") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return rows, summary


def mean(values):
    values = list(values)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")
    return statistics.fmean(values), error


def places(rows, count):
    last = rows[-1]
    return [(last[f"ball{i + 1}.x"], last[f"ball{i + 1}.z"]) for i in range(count)]


def repose(options, folder):
    """A column six balls wide collapses on a ground of half-sunk balls; slope of a line through the surface of each flank."""
    table, columns, count = [], 6, 6 * options.layers
    for mu in (0.1, 0.2, 0.3, 0.5, 0.8):
        angles = []
        for seed in range(options.seeds):
            x = f"2.06*r*(mod(i, {columns}) - {(columns - 1) / 2}) + 0.06*r*sin(7*i + {seed})"
            z = f"1.9*r + 2.06*r*floor(i/{columns}) + 0.02*r*cos(5*i + {2 * seed})"
            rough = '[[shape]]\nbody = "ground"\nkind = "heightfield"\nsize = [2, 0.1]\ncells = [400, 1]\nheights = "0.4*r*cos(pi*x/r)"\n'
            contact = f'[[contact]]\nname = "touch"\nbetween = ["ball", "ball"]\nmu = {mu}\n[[contact]]\nname = "floor"\nbetween = ["ball", "ground"]\nmu = {mu}\n'
            rows, summary = run(options, folder, f"repose-{mu}-{seed}", HEAD.format(count=count, x=x, z=z) + rough + contact + RUN.format(step=0.001, end=1.2, output=0.1))
            if summary["status"] != "success":
                continue
            top = {}
            for px, pz in places(rows, count):
                cell = round(px / 0.02)
                top[cell] = max(top.get(cell, 0), pz)
            crest = max(top, key=top.get)
            for side in (-1, 1):
                points = [(abs(c - crest) * 0.02, h) for c, h in top.items() if (c - crest) * side >= 0 and h > 0.015]
                if len(points) < 4:
                    continue
                mx, mz = statistics.fmean(p[0] for p in points), statistics.fmean(p[1] for p in points)
                slope = sum((p[0] - mx) * (p[1] - mz) for p in points) / sum((p[0] - mx) ** 2 for p in points)
                angles.append(math.degrees(math.atan(-slope)))
        if angles:
            table.append({"mu": mu, "angle": mean(angles)[0], "error": mean(angles)[1], "flanks": len(angles)})
        print(table[-1:], file=sys.stderr)
    return table


def janssen(options, folder):
    """Force on the floor of a slot of width D over the height of filling; F = F_inf (1 - exp(-h/l)), F_inf = (weight per height) l."""
    table, width = [], 8
    for layers in (5, 10, 20, 30):
        loads, weights = [], []
        for seed in range(options.seeds):
            count = width * layers
            x = f"2.02*r*(mod(i, {width}) - {(width - 1) / 2}) + 0.01*r*sin(7*i + {seed})"
            z = f"1.02*r + 2.02*r*floor(i/{width})"
            half = f"{width * 1.03}*r"
            walls = "".join(f'[[shape]]\nbody = "ground"\nkind = "plane"\nnormal = [{-s}, 0, 0]\nposition = ["{s}*{half}", 0, 0]\n' for s in (-1, 1))
            floor = '[[body]]\nname = "floor"\nmass = 1\nposition_0 = [0, 0, "-r"]\n[[shape]]\nbody = "floor"\nkind = "box"\nsize = [1, "1.9*r", "2*r"]\n' \
                    '[[shape]]\nbody = "ground"\nkind = "plane"\nposition = [0, 0, "-2*r"]\n'
            contact = '[[contact]]\nname = "balls"\nbetween = ["ball", "ball"]\nmu = 0.3\n[[contact]]\nname = "slot"\nbetween = ["ball", "ground"]\nmu = 0.4\n' \
                      '[[contact]]\nname = "load"\nbetween = ["ball", "floor"]\nmu = 0.3\n[[contact]]\nname = "support"\nbetween = ["floor", "ground"]\nmu = 0\n'
            rows, summary = run(options, folder, f"janssen-{layers}-{seed}", HEAD.format(count=count, x=x, z=z) + walls + floor + contact + RUN.format(step=0.001, end=0.8, output=0.02))
            if summary["status"] != "success":
                continue
            weight = count * 2500 * 4 / 3 * math.pi * 0.01**3 * 9.81
            column = next(key for key in rows[-1] if key.startswith("r_load") or key.startswith("load"))
            tail = [abs(row[column]) for row in rows[-10:]]
            loads.append(statistics.fmean(tail) / weight)
            weights.append(weight)
        if loads:
            table.append({"layers": layers, "share": mean(loads)[0], "error": mean(loads)[1], "weight": weights[0], "runs": len(loads)})
        print(table[-1:], file=sys.stderr)
    return table


def beverloo(options, folder):
    """Balls run out of a slot with an opening of D; in a slice the exponent of (D - k d) is 3/2, in space 5/2."""
    table = []
    for opening in (4, 5, 6, 8):
        rates = []
        for seed in range(options.seeds):
            width, layers = 14, options.hopper_layers
            count = width * layers
            x = f"2.02*r*(mod(i, {width}) - {(width - 1) / 2}) + 0.01*r*sin(7*i + {seed})"
            z = f"1.02*r + 2.02*r*floor(i/{width})"
            half, gap = width * 1.03 * 0.01, opening * 0.01
            walls = "".join(f'[[shape]]\nbody = "ground"\nkind = "plane"\nnormal = [{-s}, 0, 0]\nposition = [{s * half}, 0, 0]\n' for s in (-1, 1))
            floor = "".join(f'[[shape]]\nbody = "ground"\nkind = "box"\nsize = [{half - gap + 0.1}, 0.1, 0.02]\nposition = [{s * (gap + half + 0.1) / 2}, 0, -0.01]\n' for s in (-1, 1))
            contact = '[[contact]]\nname = "touch"\nbetween = ["ball", "ball"]\nmu = 0.3\n[[contact]]\nname = "wall"\nbetween = ["ball", "ground"]\nmu = 0.3\n'
            rows, summary = run(options, folder, f"beverloo-{opening}-{seed}", HEAD.format(count=count, x=x, z=z) + walls + floor + contact + RUN.format(step=0.001, end=0.7, output=0.02))
            if summary["status"] != "success":
                continue
            out = [(row["t"], sum(row[f"ball{i + 1}.z"] < -0.01 for i in range(count))) for row in rows]
            steady = [(t, n) for t, n in out if 0.15 <= t and n < 0.6 * count]
            if len(steady) < 4:
                continue
            mt, mn = statistics.fmean(p[0] for p in steady), statistics.fmean(p[1] for p in steady)
            rates.append(sum((p[0] - mt) * (p[1] - mn) for p in steady) / sum((p[0] - mt) ** 2 for p in steady))
        if rates:
            table.append({"opening": opening, "rate": mean(rates)[0], "error": mean(rates)[1], "runs": len(rates)})
        print(table[-1:], file=sys.stderr)
    return table


def slope(points):
    mx, my = statistics.fmean(p[0] for p in points), statistics.fmean(p[1] for p in points)
    return sum((p[0] - mx) * (p[1] - my) for p in points) / sum((p[0] - mx) ** 2 for p in points)


def rest(options, folder):
    """Ten balls in three layers, lying: how far any of them moves, and whether energy ever grows."""
    text = """
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "box"
count = 6
mass = 1
position_0 = ["0.21*(i - 1) - if(i < 3, 0, 0.525) - if(i < 5, 0, 0.315)", 0, "0.05 + 0.1*(if(i < 3, 0, 1) + if(i < 5, 0, 1))"]
[[shape]]
body = "box"
kind = "box"
size = [0.2, 0.2, 0.1]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "touch"
between = ["*", "*"]
mu = 0.4
"""
    rows, summary = run(options, folder, "rest", text + RUN.format(step=0.001, end=options.rest_steps * 0.001, output=options.rest_steps * 1e-5))
    first = rows[0]
    moved = max(abs(row[f"box{i + 1}.{axis}"] - first[f"box{i + 1}.{axis}"]) for row in rows for i in range(6) for axis in "xyz")
    energies = [row["kinetic_energy"] + row["potential_energy"] for row in rows if "kinetic_energy" in row]
    growth = max((b - a for a, b in zip(energies, energies[1:])), default=float("nan"))
    return {"steps": options.rest_steps, "moved": moved, "growth": growth, "energy": energies[0] if energies else None, "status": summary["status"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for granular.json and .md")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--layers", type=int, default=12, help="of the column that collapses")
    parser.add_argument("--hopper-layers", type=int, default=24)
    parser.add_argument("--rest-steps", type=int, default=100000)
    parser.add_argument("--only", default="rest,repose,janssen,beverloo")
    options = parser.parse_args()
    box = machine("libsiconos-numerics7")
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for part in options.only.split(","):
            found[part] = globals()[part](options, pathlib.Path(scratch))
    stored = options.results / "granular.json"
    before = json.loads(stored.read_text()) if stored.exists() else {}
    found = {**{k: v for k, v in before.items() if k != "machine"}, **found}
    stored.write_text(json.dumps({"machine": box, **found}, indent=1) + "\n")
    text = page(found, box)
    (options.results / "granular.md").write_text(text)
    print(text)


def page(found, box):
    lines = ["# Heaps of balls: physics", "", "Written by `benchmarks/run granular`. Thin slices: balls of 2 cm in one layer between two walls. Means of several starts, ± standard error.", "",
             f"Machine: {box['cpu']}, {box['cores']} cores, {box['system']}; load average {box['load_average_before']:.1f} at the start; {box['date']}.", ""]
    if found.get("repose"):
        lines += ["## Angle of repose", "", "A column six balls wide collapses on rough ground.", "", "| mu | angle [°] | flanks |", "|---|---|---|"]
        lines += [f"| {row['mu']} | {row['angle']:.1f} ± {row['error']:.1f} | {row['flanks']} |" for row in found["repose"]] + [""]
    if found.get("janssen"):
        lines += ["## Silo", "", "Share of the weight that the floor of a slot eight balls wide carries (mu 0.4 at the walls).", "", "| layers | share of the weight | runs |", "|---|---|---|"]
        lines += [f"| {row['layers']} | {row['share']:.3f} ± {row['error']:.3f} | {row['runs']} |" for row in found["janssen"]]
        fit = janssen_fit(found["janssen"])
        lines += ["", f"Janssen's closed form, share = (l/h)(1 - exp(-h/l)), with one number fitted: l = {fit[0]:.1f} layers; largest difference {fit[1]:.3f}.", ""]
    if found.get("beverloo"):
        lines += ["## Discharge", "", "Balls per second through an opening in a flat floor of a slice.", "", "| opening [diameters] | balls/s | runs |", "|---|---|---|"]
        lines += [f"| {row['opening']} | {row['rate']:.0f} ± {row['error']:.0f} | {row['runs']} |" for row in found["beverloo"]]
        exponent = slope([(math.log(row["opening"] - 1.4), math.log(row["rate"])) for row in found["beverloo"]]) if len(found["beverloo"]) > 1 else float("nan")
        lines += ["", f"Rate over (D - 1.4 d): exponent {exponent:.2f} (Beverloo in a slice: 1.5).", ""]
    if found.get("rest"):
        row = found["rest"]
        lines += ["## Rest", "", f"Six boxes in three layers, {row['steps']} steps: no box moved by more than {row['moved']:.2g} m; energy grew by at most {row['growth']:.2g} J between two rows "
                  f"(of {row['energy']:.4g} J); {row['status']}.", ""]
    return "\n".join(lines)


def janssen_fit(rows):
    def model(h, length):
        return length / h * (1 - math.exp(-h / length))
    best = min((sum((row["share"] - model(row["layers"], k / 10)) ** 2 for row in rows), k / 10) for k in range(10, 2000))[1]
    return best, max(abs(row["share"] - model(row["layers"], best)) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
