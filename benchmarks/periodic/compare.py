#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Periodic motions: residual with Jacobian against harmonic balance in Octave; a bladed disc through its resonance."""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# What the coefficients of the peer's own table give at the same two points: fundamental of x2, root mean square of the tip.
ROUNDS = 3
QUANTITY = {"spring": "amplitude of the fundamental of x2", "beam": "RMS of the tip"}


def quantity(row):
    X, n = row["X"], 2 if row["problem"] == "spring" else 16
    if row["problem"] == "spring":
        return math.hypot(X[n + 1], X[2 * n + 1])
    return math.sqrt(sum(x * x for x in X[14::n]) / 2)


def nlvib_folder(given):
    """A checkout of NLvib (GPL, never part of this project): as given, or cloned beside the build."""
    if given:
        return given
    folder = pathlib.Path(tempfile.gettempdir()) / "NLvib"
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", "https://github.com/maltekrack/NLvib", str(folder)],
                       check=False, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
    return folder if (folder / "SRC" / "HB_residual.m").exists() else None


def nlvib_times(folder, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as points:
        for row in rows:
            points.write(" ".join(repr(x) for x in [row["omega"]] + row["X"]) + "\n")
        points.flush()
        return call("octave", "--no-gui", HERE / "nlvib.m", folder, points.name, 100)


def call(*arguments):
    one_thread = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, **one_thread})
    line = next((text for text in done.stdout.splitlines() if text.startswith("{")), None)
    if line is None:
        raise SystemExit(f"{arguments[0]} gave no result")
    print(line[:300], file=sys.stderr)
    return json.loads(line)


def best_rows(before, now):
    for old, new in zip(before, now):
        for key in ("seconds", "new_frequency_seconds"):
            new[key] = min(new[key], old[key])
    return now


def best_times(before, now):
    for name in ("spring", "beam") if before else ():
        if isinstance(now[name], dict):
            now[name]["seconds"] = min(now[name]["seconds"], before[name]["seconds"])
        else:
            now[name] = min(now[name], before[name])
    return now


def exponent(rows, key, value):
    first, last = rows[0], rows[-1]
    return math.log(last[value] / first[value]) / math.log(last[key] / first[key])


def per_point(row):
    return sum(p["seconds"] for p in row["points"]) / len(row["points"])


def machine_line(where, octave=""):
    return (f"Machine: {where['cpu']}, {where['cores']} cores, {where['system']}; {where['compiler']}, `{where['flags']}`; {octave}"
            f"load average {where['load_average_before']:.1f} at the start; {where['date']}.")


def evaluation(options, where):
    """Residual with Jacobian beside Octave: periodic.json, periodic.md."""
    ours = options.build / "stickslip_periodic_benchmark"
    rows, octave, nlvib = [], None, None
    folder = nlvib_folder(options.nlvib) if shutil.which("octave") else None
    for _ in range(ROUNDS):  # in turn, so that a busy machine troubles all alike
        rows = best_rows(rows, [call(ours, "evaluation", name, 1000) for name in ("spring", "beam")])
        if shutil.which("octave"):
            octave = best_times(octave, call("octave", "--no-gui", HERE / "harmonic_balance.m", 200))
        if folder:
            nlvib = best_times(nlvib, nlvib_times(folder, rows))
    lines = ["# Periodic motions", "", "Written by `benchmarks/run periodic`. Best time of one residual with its Jacobian (CPU time "
             f"of either, the best of {ROUNDS} rounds in turn; Octave with one thread), at the same point of the same problem with the same discretisation: two masses with "
             "a unilateral spring (21 harmonics, 1024 samples, ω = 0.7, upper part of the branch), a beam of 16 coordinates with "
             "regularised friction (7 harmonics, 128 samples, ω = 195). Peers: NLvib's `HB_residual`, which forms the "
             "derivative by the frequency as well; and the same scheme written for these two problems in Octave, vectorised, "
             "every coordinate an unknown. Ours takes forces from the text of a model and condenses what is linear; a new "
             "frequency makes model, scales and condensation anew, as a branch does. A bladed disc of 10,000 coordinates: [bladed_disc.md](bladed_disc.md).", "",
             machine_line(where, f"Octave {octave['version'] if octave else 'not installed'}; "), "",
             "| problem | ours | unknowns | NLvib | unknowns | ratio | our own Octave version | ratio | ours at a new frequency | NLvib's over it |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        name, t, new = row["problem"], row["seconds"], row["new_frequency_seconds"]
        own = octave[name] if octave else math.nan
        peer = nlvib[name]["seconds"] if nlvib else math.nan
        lines.append(f"| {name} | {1e6 * t:.3g} us | {row['unknowns']} | {1e3 * peer:.3g} ms | {nlvib[name]['unknowns'] if nlvib else '-'} | "
                     f"**{peer / t:.3g}** | {1e6 * own:.3g} us | {own / t:.3g} | {1e6 * new:.3g} us | {peer / new:.3g} |")
    lines += ["", "What is compared is the same: our solutions in NLvib's residual.", "",
              "| problem | quantity | ours | NLvib's residual there, over the force | change of its coefficients by a Newton step |",
              "|---|---|---|---|---|"]
    for row in rows:
        there = nlvib[row["problem"]] if nlvib else {"residual": math.nan, "newton_change": math.nan}
        lines.append(f"| {row['problem']} | {QUANTITY[row['problem']]} | {quantity(row):.9g} | {there['residual']:.1e} | "
                     f"{there['newton_change']:.1e} |")
    for row in rows:
        row["quantity"] = quantity(row)
        del row["X"]
    write(options.results, "periodic", {"machine": where, "evaluation": rows, "octave": octave, "nlvib": nlvib}, lines)


def disc(options, where):
    """A bladed disc through its resonance: bladed_disc.json, bladed_disc.md."""
    ours = options.build / "stickslip_periodic_benchmark"
    frequencies, checked = options.frequencies.split(","), options.check.split(",")
    sweep = call(ours, "disc", 7, 50, 0, *frequencies)
    check = call(ours, "disc", 7, 50, 1, *checked)
    growth = options.growth.split(",")
    by_harmonics = [call(ours, "disc", h, 50, 0, *growth) for h in options.harmonics.split(",")]
    by_sectors = [call(ours, "disc", 7, s, 0, *growth) for s in options.sectors.split(",")]
    for row in by_harmonics + by_sectors:
        row["per_point"] = per_point(row)
    lines = ["# Bladed disc", "", "Written by `benchmarks/run periodic --part disc`.", "", machine_line(where), "",
             f"{sweep['coordinates']} coordinates (sparse), {sweep['contacts']} friction contacts between neighbouring blades, set-valued, "
             f"third engine order, {sweep['harmonics']} harmonics, {sweep['points'][0]['unknowns']} unknowns, through its "
             f"resonance: **{sweep['seconds']:.3g} s of CPU time for {len(frequencies)} frequencies, {sweep['megabytes']:.3g} MB**.", "",
             "| frequency | tip amplitude | mean stick fraction | Newton steps | seconds | status |", "|---|---|---|---|---|---|"]
    for p in sweep["points"]:
        lines.append(f"| {p['omega']:g} | {p['tip']:.6g} | {p['stick']:.3g} | {p['iterations']} | {p['seconds']:.3g} | {p['status']} |")
    lines += ["", "Against time stepping, on the model reduced to platforms, tips and 150 interior modes (Craig-Bampton, "
              f"{check['points'][0]['reduced_coordinates']} coordinates): amplitude of a tip by 15 harmonics, and in the tenth period of "
              "the fixed-step scheme (400 steps each) that begins with them. Between all coordinates and the reduced model lies the reduction, "
              "which moves the resonance a little, and the number of harmonics.", "",
              "| frequency | all coordinates, 7 harmonics | reduced, 15 harmonics | reduced, time stepping | difference of the last two | seconds | status |",
              "|---|---|---|---|---|---|---|"]
    for p in check["points"]:
        change = p["stepped_tip"] / p["reduced_tip"] - 1
        lines.append(f"| {p['omega']:g} | {p['tip']:.6g} | {p['reduced_tip']:.6g} | {p['stepped_tip']:.6g} | {change:.1e} | "
                     f"{p['check_seconds']:.3g} | {p['check_status']} |")
    lines += ["", f"Growth, mean over the frequencies {', '.join(growth)}:", "", "| harmonics | contacts | seconds | MB |", "|---|---|---|---|"]
    for row in by_harmonics + by_sectors:
        lines.append(f"| {row['harmonics']} | {row['contacts']} | {row['per_point']:.3g} | {row['megabytes']:.3g} |")
    lines += ["", f"Time grows like harmonics^{exponent(by_harmonics[1:], 'harmonics', 'per_point'):.2f} (from {by_harmonics[1]['harmonics']} on) and "
              f"contacts^{exponent(by_sectors, 'contacts', 'per_point'):.2f} (the structure grows with its contacts): a sparse "
              "factor per harmonic, and dense factors of all coefficients of the contacts in Newton's iteration."]
    write(options.results, "bladed_disc", {"machine": where, "sweep": sweep, "check": check, "harmonics": by_harmonics, "sectors": by_sectors}, lines)


def write(folder, name, data, lines):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for periodic.* and bladed_disc.*")
    parser.add_argument("--part", choices=["all", "evaluation", "disc"], default="all")
    parser.add_argument("--nlvib", type=pathlib.Path, help="a checkout of NLvib; left out: cloned where that can be done")
    parser.add_argument("--frequencies", default="0.86,0.88,0.9,0.92,0.94,0.95,0.96,0.965,0.97,0.974,0.977,0.98,0.983,0.987,0.99,1.0,1.02")
    parser.add_argument("--check", default="0.94,0.98,1.0", help="frequencies that are compared with time stepping")
    parser.add_argument("--growth", default="0.9,0.93,0.96", help="frequencies that times of other sizes are means over")
    parser.add_argument("--harmonics", default="1,3,7,11")
    parser.add_argument("--sectors", default="10,25,50")
    parser.add_argument("--flags", help="of the compiler, where the build has others than benchmarks/run gives it")
    options = parser.parse_args()
    where = machine.machine("octave")
    where["flags"] = options.flags or where["flags"]
    if options.part != "disc":
        evaluation(options, where)
    if options.part != "evaluation":
        disc(options, where)


if __name__ == "__main__":
    main()
