#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Periodic motions: residual with Jacobian against harmonic balance in Octave; a bladed disc through its resonance."""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

# Best times of NLvib 1.3 under Octave 7.3 for the same problems and discretisations, on another machine of this kind.
NLVIB = {"spring": 17.6e-3, "beam": 16.6e-3}


def call(*arguments):
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, text=True, check=False)
    line = next((text for text in done.stdout.splitlines() if text.startswith("{")), None)
    if line is None:
        raise SystemExit(f"{arguments[0]} gave no result")
    print(line[:300], file=sys.stderr)
    return json.loads(line)


def exponent(rows, key, value):
    first, last = rows[0], rows[-1]
    return math.log(last[value] / first[value]) / math.log(last[key] / first[key])


def per_point(row):
    return sum(p["seconds"] for p in row["points"]) / len(row["points"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for periodic.json and .md")
    parser.add_argument("--frequencies", default="0.86,0.88,0.9,0.91,0.92,0.93,0.94,0.95,0.96,0.98,1.0")
    parser.add_argument("--check", default="0.9,0.93,0.96", help="frequencies that are compared with time stepping")
    parser.add_argument("--harmonics", default="1,3,7,15")
    parser.add_argument("--sectors", default="10,25,50")
    options = parser.parse_args()
    ours = options.build / "stickslip_periodic_benchmark"
    where = machine.machine("octave")
    rows = [call(ours, "evaluation", name, 300) for name in ("spring", "beam")]
    octave = None
    if shutil.which("octave"):
        octave = call("octave", "--no-gui", pathlib.Path(__file__).resolve().parent / "harmonic_balance.m", 200)
    lines = ["# Periodic motions", "", "Written by `benchmarks/run periodic`. Best CPU time of one residual with its Jacobian: "
             "two masses with a unilateral spring (21 harmonics, 1024 samples), a beam of 16 coordinates with regularised "
             "friction (7 harmonics, 128 samples). The peer is harmonic balance written for these two problems in Octave, "
             "vectorised, with analytic Jacobians and every coordinate an unknown; ours takes the forces from the text of a "
             "model and condenses what is linear. NLvib's times are those of the reference sheet, from another run.", "",
             f"Machine: {where['cpu']}, {where['cores']} cores, {where['system']}; {where['compiler']}, `{where['flags']}`; "
             f"Octave {octave['version'] if octave else 'not installed'}; load average {where['load_average_before']:.1f} at "
             f"the start; {where['date']}.", "",
             "| problem | ours | unknowns | Octave | ratio | NLvib (sheet) | ratio | ours at a new frequency |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        name, t = row["problem"], row["seconds"]
        peer = octave[name] if octave else math.nan
        lines.append(f"| {name} | {1e6 * t:.3g} us | {row['unknowns']} | {1e6 * peer:.3g} us | {peer / t:.3g} | "
                     f"{1e3 * NLVIB[name]:.3g} ms | {NLVIB[name] / t:.3g} | {1e6 * row['new_frequency_seconds']:.3g} us |")
    frequencies = options.frequencies.split(",")
    sweep = call(ours, "disc", 7, 50, 0, *frequencies)
    check = call(ours, "disc", 15, 50, 1, *options.check.split(","))
    by_harmonics = [call(ours, "disc", h, 50, 0, *options.check.split(",")) for h in options.harmonics.split(",")]
    by_sectors = [call(ours, "disc", 7, s, 0, *options.check.split(",")) for s in options.sectors.split(",")]
    lines += ["", f"Bladed disc, {sweep['coordinates']} coordinates (sparse), {sweep['contacts']} friction contacts between "
              f"blades, set-valued, {sweep['harmonics']} harmonics, {sweep['points'][0]['unknowns']} unknowns, through its "
              f"resonance: {sweep['seconds']:.3g} s of CPU time for {len(frequencies)} frequencies, {sweep['megabytes']:.3g} MB.", "",
              "| frequency | tip amplitude | mean stick fraction | Newton steps | seconds | status |", "|---|---|---|---|---|---|"]
    for p in sweep["points"]:
        lines.append(f"| {p['omega']:g} | {p['tip']:.6g} | {p['stick']:.3g} | {p['iterations']} | {p['seconds']:.3g} | {p['status']} |")
    lines += ["", "Against time stepping: the fixed-step scheme on all coordinates from the first row of the orbit (15 harmonics), "
              "distance from it after three periods, over the size of the motion.", "",
              "| frequency | distance | tip amplitude |", "|---|---|---|"]
    for p in check["points"]:
        shown = "-" if p["stepping_distance"] is None else f"{p['stepping_distance']:.2g}"
        lines.append(f"| {p['omega']:g} | {shown} | {p['tip']:.6g} |")
    lines += ["", "Growth, mean over three frequencies:", "", "| harmonics | contacts | seconds | MB |", "|---|---|---|---|"]
    for row in by_harmonics + by_sectors:
        lines.append(f"| {row['harmonics']} | {row['contacts']} | {per_point(row):.3g} | {row['megabytes']:.3g} |")
    for row in by_harmonics + by_sectors:
        row["per_point"] = per_point(row)
    lines += ["", f"Time grows like harmonics^{exponent(by_harmonics[1:], 'harmonics', 'per_point'):.2f} (from 3 on) and "
              f"sectors^{exponent(by_sectors, 'contacts', 'per_point'):.2f} (the structure grows with its contacts): a sparse "
              "factor per harmonic, and dense factors of all coefficients of the contacts in Newton's iteration."]
    options.results.mkdir(parents=True, exist_ok=True)
    data = {"machine": where, "evaluation": rows, "octave": octave, "nlvib_sheet": NLVIB, "sweep": sweep, "check": check,
            "harmonics": by_harmonics, "sectors": by_sectors}
    (options.results / "periodic.json").write_text(json.dumps(data, indent=1) + "\n")
    (options.results / "periodic.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
