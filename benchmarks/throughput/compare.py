#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every throughput program in one session, checks that they computed the same motion, and writes the table.

Each program prints one JSON line (see harness.hpp). All runs of one repetition follow each other before the next
repetition starts, so that a busy spell of the machine hits all programs alike; the best repetition counts.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import machine  # noqa: E402

# Steps per N. N = 2 and 10 run the length at which reference positions are known; the larger N share one length, so
# that the cost per mass is compared over the same stretch of the motion.
STEPS = {2: 20000, 10: 20000, 100: 2000, 1000: 2000, 10000: 2000}
SCALING = (100, 1000, 10000)

# x_0 after 20000 steps of the reference scheme, from an independent implementation; all printed digits are required.
CHECK_VALUES = {2: (-1.87950737, 5e-9), 10: (-0.6591088688, 5e-11)}

# Two programs with the same scheme differ by rounding and by their solvers' tolerance (1e-12 per step or smaller).
SAME_MOTION = 1e-8

PLAIN = "plain loop, same scheme and steps"
IMPLICIT, EXPLICIT, BALL = "implicit", "explicit", "ball"


class Case:
    def __init__(self, program, formulation, scheme, n, steps, once=False):
        self.program, self.formulation, self.scheme = program, formulation, scheme
        self.n, self.steps, self.once = n, steps, once
        self.runs = []
        self.failure = None

    @property
    def best(self):
        return max(run["steps_per_second"] for run in self.runs)

    @property
    def worst(self):
        return min(run["steps_per_second"] for run in self.runs)

    @property
    def x0(self):
        return self.runs[0]["x0"]

    @property
    def label(self):
        return self.program if self.program == "stickslip" else f"{self.program} {self.formulation}"


def all_cases(quick):
    """The cases in the order of one repetition. Steps are cut where the peer takes longer than a few seconds."""
    cases = []
    for n, steps in STEPS.items():
        cases.append(Case("plain_loop", "implicit", IMPLICIT, n, steps))
        cases.append(Case("stickslip", None, IMPLICIT, n, steps))
        if n <= 1000:
            cases.append(Case("plain_loop", "explicit", EXPLICIT, n, steps))
            cases.append(Case("siconos_bodies", "separate", EXPLICIT, n, {100: 1000, 1000: 100}.get(n, steps)))
        if n <= 100:
            cases.append(Case("siconos_relay", "lemke", IMPLICIT, n, min(steps, 20000 if n <= 10 else 40)))
            cases.append(Case("siconos_relay", "pgs", IMPLICIT, n, min(steps, 20000 if n <= 10 else 40)))
    cases.append(Case("siconos_bodies", "one_body", IMPLICIT, 2, STEPS[2]))
    cases.append(Case("siconos_bodies", "one_body", IMPLICIT, 10, 2000))
    if not quick:
        cases.append(Case("siconos_relay", "pgs", IMPLICIT, 1000, 2, once=True))
    for steps in (400, 20000):
        cases.append(Case("plain_loop", "ball", BALL, 1, steps))
        cases.append(Case("stickslip", "ball", BALL, 1, steps))
        cases.append(Case("siconos_ball", "ball", BALL, 1, steps))
    return cases


def find_programs(build):
    places = {
        "plain_loop": [build / "peers/plain_loop"],
        "siconos_relay": [build / "peers/siconos_relay"],
        "siconos_bodies": [build / "peers/siconos_bodies"],
        "siconos_ball": [build / "peers/siconos_ball"],
        "stickslip": [build / "ours/benchmarks/throughput/ours/stickslip_throughput", build / "ours/stickslip_throughput"],
    }
    return {name: next(path for path in paths if path.is_file())
            for name, paths in places.items() if any(path.is_file() for path in paths)}


def run(programs, program, formulation, n, steps):
    command = [str(programs[program]), "--n", str(n), "--steps", str(steps)]
    if formulation:
        command += ["--formulation", formulation]
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout.strip().splitlines()[-1])
    if result["n"] != n or result["steps"] != steps:
        raise RuntimeError(f"asked for n = {n}, steps = {steps}, got n = {result['n']}, steps = {result['steps']}")
    return result


def run_case(programs, case):
    """Adds one run to the case; a program that fails once is left out from then on and named in the report."""
    try:
        case.runs.append(run(programs, case.program, case.formulation, case.n, case.steps))
    except subprocess.CalledProcessError as problem:
        case.failure = f"exit status {problem.returncode}"
    except (OSError, RuntimeError, ValueError, KeyError, IndexError) as problem:
        case.failure = f"unusable output: {problem}"


def check(cases, programs):
    """Every case against the plain loop of its scheme over the same steps, and against the known positions."""
    reference, checks = {}, []
    for case in cases:
        key = (case.scheme, case.n, case.steps)
        if key not in reference:
            reference[key] = run(programs, "plain_loop", case.scheme, case.n, case.steps)["x0"]
        if case.program != "plain_loop":
            checks.append(one_check(case, PLAIN, reference[key], SAME_MOTION))
        if case.scheme == IMPLICIT and case.n in CHECK_VALUES and case.steps == 20000:
            checks.append(one_check(case, "known value", *CHECK_VALUES[case.n]))
    return checks


def one_check(case, against, expected, limit):
    difference = abs(case.x0 - expected)
    return {"program": case.program, "formulation": case.formulation, "n": case.n, "steps": case.steps,
            "against": against, "x0": case.x0, "expected": expected, "difference": difference, "limit": limit,
            "passed": difference <= limit}


def scaling(cases):
    """Time per step and mass at each N of SCALING, per program that ran them all, and its largest over smallest."""
    rows = []
    for label in dict.fromkeys(case.label for case in cases):
        per_mass = {case.n: 1e9 / (case.best * case.n) for case in cases
                    if case.label == label and case.n in SCALING and case.steps == STEPS[case.n]}
        if len(per_mass) == len(SCALING):
            rows.append({"program": label, "nanoseconds_per_step_and_mass": per_mass,
                         "max_over_min": max(per_mass.values()) / min(per_mass.values())})
    return rows


def rate_of(cases, program, formulation, n, steps=None):
    found = [case.best for case in cases if case.program == program and case.formulation == formulation
             and case.n == n and steps in (None, case.steps)]
    return found[0] if found else None


def ratios(cases):
    """steps/s of stickslip over each other program at the same N, and of the plain loop of the same scheme over it."""
    rows = []
    for case in cases:
        ours = (rate_of(cases, "stickslip", "ball", 1, case.steps) if case.scheme == BALL
                else rate_of(cases, "stickslip", None, case.n))
        plain = rate_of(cases, "plain_loop", case.scheme, case.n, case.steps if case.scheme == BALL else None)
        rows.append({"program": case.program, "formulation": case.formulation, "scheme": case.scheme, "n": case.n,
                     "steps": case.steps, "steps_per_second": case.best,
                     "slowest_over_best": case.worst / case.best, "repetitions": len(case.runs),
                     "microseconds_per_step": 1e6 / case.best,
                     "plain_loop_over_this": plain / case.best if plain else None,
                     "stickslip_over_this": ours / case.best if ours and case.program != "stickslip" else None})
    return sorted(rows, key=lambda row: (row["scheme"] == BALL, row["n"]))


def number(value, digits=3):
    if value is None:
        return ""
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.2e}"


def table(rows, with_ours):
    head = ["N", "program", "steps", "runs", "steps/s", "slowest/best", "µs/step", "plain loop / this"]
    if with_ours:
        head.append("stickslip / this")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        name = row["program"] if row["program"] == "stickslip" else f"{row['program']} {row['formulation']}"
        if row["scheme"] == EXPLICIT:
            name += " ¹"
        cells = ["ball" if row["scheme"] == BALL else str(row["n"]), name, str(row["steps"]), str(row["repetitions"]),
                 number(row["steps_per_second"]), f"{row['slowest_over_best']:.2f}",
                 number(row["microseconds_per_step"]), number(row["plain_loop_over_this"])]
        if with_ours:
            cells.append(number(row["stickslip_over_this"]))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


CAVEATS = """\
- ¹ is another scheme: separate bodies with explicit springs decouple the contacts and integrate a (slightly) different
  motion; at N = 2 also another mass matrix (identity). It is listed because it is the fastest way found to step 1000
  masses with Siconos. Its "plain loop" is the plain loop of that scheme; the column for stickslip mixes two schemes.
- The relay formulation turns N coordinates into 2N first-order unknowns with dense matrices, and the contact
  formulation adds a height and a contact normal per coordinate. Both are natural ways to state the problem to Siconos,
  neither is a special code for chains. Siconos solves far more general problems than this one.
- The peers keep only the last state, have no audit and write nothing.
- The plain loop is no library: the structure and the constant coefficients of the matrices are written into it, and it
  has no events, no checks, no output. The ratio to it is the price of generality, not a defect by itself.
- Rates at one N come from different numbers of steps where a peer is slow (see the column): those peers are timed near
  the start of the motion only. N = 1000 by relay is two steps, run once, without warm-up; Lemke there was not run.
- Force evaluation (one cosine per mass and step) is inside the clock of every program; a profile put it at 40 % of the
  plain loop's time at N = 1000, so ratios to the plain loop understate the overhead of the stepping itself.
- CPU time of the stepping thread, best of the repetitions. On a busy machine caches, memory bandwidth and shared
  physical cores still disturb it: two programs whose rates differ by less than slowest/best are not told apart.
- The plain ball takes microseconds for 400 steps, so that reading the clock is part of its time.
- Two problem classes (a chain with dry friction, one limit, fixed step; a bouncing ball); it says nothing about
  accuracy, events, contact between bodies or robustness.
"""

OUR_CAVEATS = """\
- stickslip runs with its audit on (energy balance, residuals in every step), which the others do not have, and with
  its output thinned; nothing is written to files inside the clock.
"""


def report(data):
    with_ours = any(row["program"] == "stickslip" for row in data["ratios"])
    box = data["machine"]
    parts = ["# Throughput against the plain loop and Siconos", "",
             "Written by `benchmarks/run`. N masses with dry friction on every coordinate, θ = 1/2, h = 0.003 s; the problem "
             "is stated in `benchmarks/throughput/harness.hpp`.", "",
             f"Machine: {box['cpu']}, {box['cores']} cores, {box['system']}; {box['compiler']}, `{box['flags']}`; "
             f"Siconos {box['siconos']}, one BLAS thread; load average {box['load_average_before']:.1f} at the start; "
             f"{box['date']}.", ""]
    if not with_ours:
        parts += ["stickslip's own program was not built: peers only.", ""]
    parts += [table(data["ratios"], with_ours), "", "## Cost per mass", "",
              "Nanoseconds per step and mass, and the largest over the smallest (1 = a step costs exactly O(N)).", "",
              "| program | " + " | ".join(f"N = {n}" for n in SCALING) + " | max/min |", "|---|" + "---|" * (len(SCALING) + 1)]
    for row in data["scaling"]:
        values = row["nanoseconds_per_step_and_mass"]
        parts.append(f"| {row['program']} | " + " | ".join(number(values[n]) for n in SCALING) + f" | {row['max_over_min']:.2f} |")
    failed = [entry for entry in data["checks"] if not entry["passed"]]
    largest = max((entry["difference"] for entry in data["checks"] if entry["against"] == PLAIN), default=0.0)
    parts += ["", "## Same motion", "",
              f"{len(data['checks'])} comparisons of x_0 at the end of the run, with the plain loop of the same scheme and "
              f"with known positions: {len(failed)} failed. Largest difference from the plain loop: {largest:.1e} m."]
    for entry in data["failures"]:
        parts.append(f"- DID NOT RUN: {entry['program']} {entry['formulation'] or ''} N = {entry['n']}: {entry['message']}")
    for entry in failed:
        parts.append(f"- FAILED: {entry['program']} {entry['formulation'] or ''} N = {entry['n']}, {entry['steps']} steps: "
                     f"x_0 = {entry['x0']:.12g}, expected {entry['expected']:.12g} ({entry['against']})")
    parts += ["", "## What the numbers do not show", "", CAVEATS + (OUR_CAVEATS if with_ours else "")]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder with peers/ and ours/")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for throughput.json and .md")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out the relay at N = 1000 (half a minute)")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error("--repetitions must be at least 1")

    programs = find_programs(options.build)
    if "plain_loop" not in programs:
        parser.error(f"no plain_loop under {options.build}/peers: build first, or call benchmarks/run")
    label = machine("libsiconos-kernel7")
    cases = [case for case in all_cases(options.quick) if case.program in programs]
    for repetition in range(options.repetitions):
        for index, case in enumerate(cases):
            if case.failure or (repetition > 0 and case.once):
                continue
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\033[Krepetition {repetition + 1}/{options.repetitions}, "
                                 f"{index + 1}/{len(cases)}: {case.label}, N = {case.n}")
            run_case(programs, case)
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")

    failures = [{"program": case.program, "formulation": case.formulation, "n": case.n, "steps": case.steps,
                 "message": case.failure} for case in cases if case.failure]
    cases = [case for case in cases if case.runs and not case.failure]
    data = {"machine": label, "failures": failures, "ratios": ratios(cases), "scaling": scaling(cases), "checks": check(cases, programs),
            "runs": [run_result for case in cases for run_result in case.runs]}
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "throughput.json").write_text(json.dumps(data, indent=1) + "\n")
    text = report(data)
    (options.results / "throughput.md").write_text(text)
    print(text)
    return 0 if not failures and all(entry["passed"] for entry in data["checks"]) else 1


if __name__ == "__main__":
    sys.exit(main())
