#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Friction-contact problems: our default against the solvers of Siconos, changed copies of the problems, heaps of spheres.

peers     every problem by every solver of the peer and by ours, in one run; best CPU time, error recomputed from r
variants  several hundred changed copies of the problems: how many are solved
packings  pyramids, close packings and random deposits of spheres with 1000 to 6000 contacts

The results are friction_contact, contact_variants and contact_packings, .json and .md each. Only `peers` needs Siconos, and only for the comparison.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import machine  # noqa: E402

PEERS = ("NSGS", "NSGS-NSN", "NSGS-PLI", "NSN_AC", "ADMM", "VI_EG")
TOLERANCE = 1e-8          # strict_error of problems and variants
SMALL = 60                # contacts; up to here the peer also gets W as a dense matrix, which some of its solvers prefer
# Heaps, strict_error and seconds: what the error of a time step deserves, and what shows whether a solution is near.
PACKING_GOALS = ((1e-4, 3), (1e-6, 10))


def machine_line(box):
    return (f"Machine: {box['cpu']}, {box['cores']} cores, {box['system']}; {box['compiler']}, `{box['flags']}`; "
            f"Siconos {box['siconos']}, one BLAS thread; load average {box['load_average_before']:.1f} at the start; "
            f"{box['date']}.")


class Progress:
    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.time()

    def step(self, text):
        self.done += 1
        if sys.stderr.isatty():
            left = (time.time() - self.start) / self.done * (self.total - self.done)
            sys.stderr.write(f"\r\033[K{self.done}/{self.total} {text}, about {left:.0f} s left")
            sys.stderr.flush()

    def end(self):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def lines_of(command, progress):
    """The JSON lines of a program, as they come."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    rows = []
    for line in process.stdout:
        if line.startswith("{"):
            rows.append(json.loads(line))
            progress.step(rows[-1]["problem"])
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(map(str, command[:3]))} ... ended with {process.returncode}")
    return rows


def peer_run(program, path, solver, storage, seconds, repetitions):
    """One run of the peer; without a result it says so. The program limits its own CPU time."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    command = [program, path, "--solver", solver, "--tolerance", str(TOLERANCE), "--seconds", str(seconds),
               "--repetitions", str(repetitions), "--storage", storage]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = [line for line in done.stdout.splitlines() if line.startswith('{"problem"')]
    if done.returncode == 0 and found and json.loads(found[-1])["seconds"] <= seconds:
        return json.loads(found[-1])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    outcome = "time" if used >= 0.9 * seconds else f"aborted ({done.returncode})"
    return {"problem": pathlib.Path(path).stem, "solver": solver, "storage": storage, "outcome": outcome, "budget": seconds}


def verdict(row):
    """strict: solved as we demand; peer: solved by the peer's own error only; fails; time; aborted."""
    if "outcome" in row:
        return row["outcome"]
    if row["strict_error"] is not None and row["strict_error"] <= TOLERANCE:
        return "strict"
    if row["error"] is not None and row["error"] <= TOLERANCE:
        return "peer"
    return "fails"


def rank(row):
    """Of two runs of one solver the one that counts: solved before not solved, then the faster."""
    return (("strict", "peer", "fails").index(row["verdict"]) if "seconds" in row else 3, row.get("seconds", 0))


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def run_peers(options, files):
    ours, peer = options.build / "contact_benchmark", options.build / "siconos_contact"
    label = machine("libsiconos-numerics7")
    with_peer = peer.is_file()
    progress = Progress(len(files) * (1 + (len(PEERS) if with_peer else 0)))
    rows = []
    for path in files:
        mine = lines_of([ours, "solve", path, "--tolerance", str(TOLERANCE), "--seconds", str(options.seconds),
                         "--repetitions", str(options.repetitions)], progress)[0]
        row = {"problem": mine["problem"], "contacts": mine["contacts"], "ours": mine, "peers": []}
        planar = mine["problem"].startswith("GranularFlowOnWall2D")  # the peer's solvers are three-dimensional
        for solver in PEERS if with_peer and not planar else ():
            runs = [peer_run(peer, path, solver, storage, options.seconds, options.repetitions)
                    for storage in (("blocks", "dense") if mine["contacts"] <= SMALL else ("blocks",))]
            for entry in runs:
                entry["verdict"] = verdict(entry)
            row["peers"].append(min(runs, key=rank))
            progress.step(f"{mine['problem']} {solver}")
        solved = [entry for entry in row["peers"] if entry["verdict"] == "strict"]
        loose = [entry for entry in row["peers"] if entry["verdict"] in ("strict", "peer")]
        row["best"] = min(solved, key=lambda entry: entry["seconds"], default=None)
        row["best_by_own_error"] = min(loose, key=lambda entry: entry["seconds"], default=None)
        both = row["best"] and mine["solved"]
        row["ratio"] = row["best"]["seconds"] / mine["seconds"] if both else None
        rows.append(row)
    progress.end()
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    data = {"machine": label, "tolerance": TOLERANCE, "budget_seconds": options.seconds, "problems": rows,
            "solved_by_ours": sum(row["ours"]["solved"] for row in rows),
            "solved_by_peer": {solver: sum(entry["verdict"] == "strict" for row in rows for entry in row["peers"]
                                           if entry["solver"] == solver) for solver in PEERS} if with_peer else {},
            "geometric_mean_ratio": geometric_mean(ratios), "faster_on": sum(ratio > 1 for ratio in ratios),
            "compared": len(ratios)}
    return data, peers_report(data)


def peer_cell(entry):
    if entry["verdict"] == "time":
        return f"> {entry['budget']:g} s"
    if entry["verdict"] == "fails":
        return f"fails ({entry['error']:.0e})" if entry["error"] is not None else "fails"
    if entry["verdict"].startswith("aborted"):
        return "aborts"
    return seconds_text(entry["seconds"]) + ("*" if entry["verdict"] == "peer" else "")


def peers_report(data):
    parts = ["# Friction-contact problems: stickslip's default against Siconos", "",
             "Written by `benchmarks/run friction_contact`. The problems are the test data of FCLIB and Siconos; "
             "statement and errors: `docs/friction-contact-problems.md`.", "", machine_line(data["machine"]), "",
             f"Tolerance {data['tolerance']:g} on strict_error, cold start r = 0, {data['budget_seconds']:g} s of CPU time "
             "each; best of several runs. Errors of all solvers are recomputed from r by the same function.", "",
             "| problem | contacts | stickslip | strict_error | iterations | peer's best | peer's best / stickslip | "
             + " | ".join(PEERS) + " |", "|" + "---|" * (7 + len(PEERS))]
    for row in data["problems"]:
        mine, best = row["ours"], row["best"]
        cells = [row["problem"], str(row["contacts"]),
                 seconds_text(mine["seconds"]) if mine["solved"] else f"**not solved** ({mine['status']})",
                 f"{mine['strict_error']:.1e}" if mine.get("strict_error") is not None else "",
                 str(mine.get("iterations", "")),
                 f"{seconds_text(best['seconds'])} {best['solver']}" if best else ("none" if row["peers"] else ""),
                 f"{row['ratio']:.2f}" if row["ratio"] else ""]
        peers = {entry["solver"]: peer_cell(entry) for entry in row["peers"]}
        parts.append("| " + " | ".join(cells + [peers.get(solver, "") for solver in PEERS]) + " |")
    parts.append(f"| solved of {len(data['problems'])} | | {data['solved_by_ours']} | | | | | "
                 + " | ".join(str(data["solved_by_peer"].get(solver, "")) for solver in PEERS) + " |")
    parts += [""]
    if data["compared"]:
        parts += [f"Geometric mean of peer's best over stickslip: **{data['geometric_mean_ratio']:.2f}** over "
                  f"{data['compared']} problems solved by both; stickslip is faster on {data['faster_on']}.", ""]
    parts += ["`>`: not finished within the CPU budget. `*`: meets the peer's error (over max(|q|, |r|, |u|)) but not "
              "strict_error (over |q|); does not count as solved.", "", "## What the numbers do not show", "",
              "- The peer's best is chosen problem by problem after the fact from six solvers; a user of one of them does not "
              "have it. The row of solved problems says how often each one succeeds alone.",
              "- Cold starts. In time stepping, warm starts favour Gauss-Seidel.",
              "- The peer's solvers run with their default parameters apart from tolerance, iteration limits, the local "
              "solver named, MUMPS inside NSN_AC and rho = 1 in ADMM.",
              "- Building the peer's matrix is not clocked; ours is handed to solve() ready as well. What either sets up "
              "inside (orderings, factors) is clocked.",
              f"- Up to {SMALL} contacts the peer gets W as blocks and as a dense matrix, and the better run counts; "
              "otherwise as blocks.",
              "- CPU time of one thread on a busy machine: differences below about 30 % are noise.",
              "- 14 problems of a few kinds, most of a few hundred contacts, two of them nearly the same twice."]
    return "\n".join(parts) + "\n"


def tally(rows, key):
    counts = collections.OrderedDict()
    for row in rows:
        entry = counts.setdefault(row[key], [0, 0, []])
        entry[0] += row["solved"]
        entry[1] += 1
        if row["solved"]:
            entry[2].append(row["seconds"])
    return counts


def run_variants(options, files):
    label = machine("libsiconos-numerics7")
    progress = Progress(34 * len(files))
    rows = lines_of([options.build / "contact_benchmark", "variants", *files, "--tolerance", str(TOLERANCE), "--seconds",
                     str(options.seconds), "--seed", str(options.seed)], progress)
    progress.end()
    data = {"machine": label, "tolerance": TOLERANCE, "budget_seconds": options.seconds, "seed": options.seed,
            "variants": len(rows), "solved": sum(row["solved"] for row in rows), "rows": rows}
    parts = ["# Friction-contact problems: changed copies", "",
             "Written by `benchmarks/run contact_variants`. Each problem with other friction (all contacts alike; each its "
             "own), other loads (q + W y), scaled q, other order of the contacts, other tangents, another unit of mass, and "
             "mixtures; seeded, see `benchmarks/friction_contact/variants.cpp`.", "", machine_line(label), "",
             f"**{data['solved']} of {data['variants']} solved** to strict_error <= {TOLERANCE:g} within {options.seconds:g} s "
             f"by the default; seed {options.seed}.", ""]
    for key in ("kind", "problem"):
        parts += [f"| {key} | solved | of | median time | longest |", "|---|---|---|---|---|"]
        for name, (solved, total, seconds) in tally(rows, key).items():
            middle = sorted(seconds)[len(seconds) // 2] if seconds else None
            parts.append(f"| {name} | {solved} | {total} | {seconds_text(middle) if seconds else ''} | "
                         f"{seconds_text(max(seconds)) if seconds else ''} |")
        parts.append("")
    failed = [row for row in rows if not row["solved"]]
    if failed:
        parts += ["Not solved:", ""]
        parts += [f"- {row['problem']}, {row['kind']} {row['strength']:g}, seed {row['seed']}: {row['status']}"
                  + (f", strict_error {row['strict_error']:.1e}" if row.get("strict_error") is not None else "") for row in failed]
        parts.append("")
    parts += ["A changed q is q + W y, a motion that the bodies can make; a change outside the range of W may leave no "
              "solution. The error is measured in the changed units."]
    return data, "\n".join(parts) + "\n"


def run_packings(options, _files):
    label = machine("libsiconos-numerics7")
    progress = Progress(24 * len(PACKING_GOALS))
    goals = []
    for tolerance, seconds in PACKING_GOALS:
        command = [options.build / "contact_benchmark", "packings", "--tolerance", str(tolerance), "--seconds", str(seconds),
                   "--seed", str(options.seed)]
        if options.write and not goals:
            options.write.mkdir(parents=True, exist_ok=True)
            command += ["--write", options.write]
        rows = lines_of(command, progress)
        goals.append({"tolerance": tolerance, "budget_seconds": seconds, "solved": sum(row["solved"] for row in rows),
                      "problems": rows})
    progress.end()
    data = {"machine": label, "seed": options.seed, "goals": goals}
    parts = ["# Friction-contact problems: heaps of spheres", "",
             "Written by `benchmarks/run contact_packings`. One step from rest under gravity: pyramids of equal spheres with "
             "all neighbours touching, hexagonal close packings on a floor, random spheres dropped into a box and rolled "
             "down until they are held; `benchmarks/friction_contact/packing.hpp`. Handed over with the bodies, as a time step "
             "does; cold start; CPU time with everything that is set up.", "", machine_line(label)]
    for goal in goals:
        parts += ["", f"## strict_error <= {goal['tolerance']:g} within {goal['budget_seconds']:g} s", "",
                  f"**{goal['solved']} of {len(goal['problems'])} solved** by the default. `status` is decided by unit_free.", "",
                  "| heap | spheres | contacts | mu | result | status | strict_error | unit_free | iterations | time | method |",
                  "|" + "---|" * 11]
        for row in goal["problems"]:
            errors = [f"{row[name]:.1e}" if row.get(name) is not None else "" for name in ("strict_error", "unit_free")]
            parts.append(f"| {row['problem']} | {row['spheres']} | {row['contacts']} | {row['mu']:g} | "
                         f"{'solved' if row['solved'] else '**not solved**'} | {row['status']} | {errors[0]} | {errors[1]} | "
                         f"{row.get('iterations', '')} | {seconds_text(row['seconds']) if 'seconds' in row else ''} | "
                         f"{row.get('method', '')} |")
    return data, "\n".join(parts) + "\n"


PARTS = {"peers": run_peers, "variants": run_variants, "packings": run_packings}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for the results")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of FCLIB files")
    parser.add_argument("--only", default="*", help="pattern of the files")
    parser.add_argument("--seconds", type=float, default=5, help="CPU time per problem and solver")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=pathlib.Path, help="folder for the heaps as FCLIB files")
    options = parser.parse_args()
    files = sorted(options.data.glob(f"{options.only}.hdf5"))
    if options.part != "packings" and not files:
        parser.error(f"no FCLIB files in {options.data}; give their folder with --data")
    data, text = PARTS[options.part](options, files)
    options.results.mkdir(parents=True, exist_ok=True)
    stem = "friction_contact" if options.part == "peers" else f"contact_{options.part}"
    (options.results / f"{stem}.json").write_text(json.dumps(data, indent=1) + "\n")
    (options.results / f"{stem}.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
