#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Chains with joint friction: time steps per second and forward dynamics against MuJoCo, DART and Simbody."""

import argparse
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

# q_0(2 s) by the event scheme, tolerances 1e-8 to 1e-12 agree (docs/theory-multibody.md).
SETTLED = {2: 1.7155741484, 6: 2.56120978918, 20: 1.48327025898}
PACKAGES = {"mujoco": "libmujoco-dev", "dart": "libdart-dev", "simbody": "libsimbody-dev"}
STEPS = [("ours", "located", "moreau"), ("ours", "unlocated", "moreau, reversals not located"),
         ("mujoco", "", "MuJoCo"), ("mujoco", "noslip", "MuJoCo, noslip"), ("dart", "", "DART")]
DYNAMICS = [("ours", "", "stickslip"), ("mujoco", "", "MuJoCo"), ("simbody", "", "Simbody"), ("dart", "", "DART")]


def call(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.replace("nan", "NaN"))


def best_of(programs, what, cases, sizes, rounds):
    """Interleaved, so that what else the machine does hits all alike."""
    best = {}
    for _ in range(rounds):
        for n in sizes:
            for name, variant, label in cases:
                if not programs[name].exists():
                    continue
                row = call(programs[name], what, n, *([variant] if variant else []))
                if row["per_second"] > best.get((label, n), {"per_second": 0})["per_second"]:
                    best[label, n] = row
    return best


def cell(best, label, n):
    return f"{best[label, n]['per_second']:,.0f}" if (label, n) in best else "not installed"


def growth(best, label, sizes):
    pair = [n for n in sizes if (label, n) in best][-2:]
    if len(pair) < 2:
        return "-"
    ratio = best[label, pair[0]]["per_second"] / best[label, pair[1]]["per_second"]
    return f"{math.log(ratio) / math.log(pair[1] / pair[0]):.2f}"


def table(best, cases, sizes, first):
    lines = ["| " + " | ".join([first] + [f"N = {n}" for n in sizes] + ["growth"]) + " |",
             "|" + "---|" * (len(sizes) + 2)]
    for _, _, label in cases:
        cells = [cell(best, label, n) for n in sizes] + [growth(best, label, sizes)]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def ratio_line(best, ours, others, sizes):
    parts = []
    for n in sizes:
        rates = [best[label, n]["per_second"] for label in others if (label, n) in best]
        parts.append(f"{best[ours, n]['per_second'] / max(rates):.2f}" if rates else "-")
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--ours", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for chain.json and .md")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    programs = {name: options.peers / f"{name}_chain" for name in PACKAGES}
    programs["ours"] = options.ours / "stickslip_chain"
    where = machine.machine(PACKAGES["mujoco"])
    sizes, dynamics_sizes = [2, 6, 20, 100], [6, 20, 100]
    steps = best_of(programs, "steps", STEPS, sizes, options.rounds)
    dynamics = best_of(programs, "dynamics", DYNAMICS, dynamics_sizes, options.rounds)
    versions = ", ".join(f"{name} {machine.first_line(['dpkg-query', '-W', '-f', '${Version}', package])}"
                         for name, package in PACKAGES.items())
    lines = ["# Chains with joint friction", "",
             "Written by `benchmarks/run chain`. N boxes of 0.1 kg and 0.1 m on hinges about y, z, y, ..., started bent and at "
             "rest, Coulomb friction of 0.02 N m in every hinge, gravity (benchmarks/chain/chain.hpp). CPU time, best of "
             f"{options.rounds} rounds in which the programs take turns, each the best of several runs.", "",
             f"Machine: {where['cpu']}, {where['cores']} cores, {where['system']}; {where['compiler']}, `{where['flags']}` "
             f"(peers as Debian builds them: {versions}); load average {where['load_average_before']:.1f} at the start; "
             f"{where['date']}. Pinocchio is not in Debian and was not installed.", "",
             "## Steps of 1 ms per second, 2 s simulated", ""]
    lines += table(steps, STEPS, sizes, "program")
    lines += ["", "Growth: exponent of the cost per step between the two longest chains. An iteration of moreau is O(N); reversals become "
              "more: 0.1 per step with 20 links, 1.6 with 100. Over MuJoCo with its default settings: " + ", ".join(f"{r} (N = {n})" for n, r in zip(sizes, ratio_line(steps, "moreau", ["MuJoCo"], sizes))) +
              "; without location " +
              ", ".join(ratio_line(steps, "moreau, reversals not located", ["MuJoCo"], sizes)) + ".", "",
              "What a step is. MuJoCo: mj_step with its default settings, semi-implicit Euler (order 1), one evaluation of M and "
              "the forces, joint friction as a soft row each (it creeps), Newton's solver (dense Hessian) to 1e-8. noslip: ten "
              "iterations of the projection that keeps it from creeping. DART: semi-implicit Euler, box LCP (60 steps at N = "
              "100, 400 at 20). moreau: implicit midpoint rule (order 2) iterated to round-off, friction as an inclusion that "
              "sticks to the last bit, every reversal located (a step with a reversal is two), energy and momentum audited in "
              "every step.", "",
              "| q_0(2 s) less the settled value | " + " | ".join(f"N = {n}" for n in SETTLED) + " |",
              "|" + "---|" * (len(SETTLED) + 1)]
    for _, _, label in STEPS:
        errors = [steps[label, n]["first"] - SETTLED[n] if (label, n) in steps else math.nan for n in SETTLED]
        lines.append(f"| {label} | " + " | ".join("-" if math.isnan(x) else f"{x:.1e}" for x in errors) + " |")
    lines += ["", "## Forward dynamics, evaluations per second", ""]
    lines += table(dynamics, DYNAMICS, dynamics_sizes, "program")
    lines += ["", "Over the best of the peers: " +
              ", ".join(f"{r} (N = {n})" for n, r in zip(dynamics_sizes, ratio_line(
                  dynamics, "stickslip", ["MuJoCo", "Simbody", "DART"], dynamics_sizes))) +
              ". MuJoCo: mj_forward without constraints; Simbody: realize(Acceleration); DART: computeForwardDynamics(); all "
              "from positions on. Accelerations of first and last hinge agree to "
              f"{max(abs(dynamics[label, n][end] / dynamics['stickslip', n][end] - 1) for label, n in dynamics for end in ('first', 'last')):.0e}.", ""]
    options.results.mkdir(exist_ok=True)
    (options.results / "chain.md").write_text("\n".join(lines))
    rows = [dict(row, label=label) for best in (steps, dynamics) for (label, _), row in best.items()]
    (options.results / "chain.json").write_text(json.dumps({"machine": where, "rows": rows}, indent=1) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
