#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Piles of spheres, boxes and capsules, and a hopper: processor time and penetration beside MuJoCo."""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

SCENES = ([("spheres", 50, mu, e) for e in (0, 0.5) for mu in (0, 0.1, 0.3, 0.7)] +
          [("shapes", 24, 0.3, 0), ("shapes", 24, 0.3, 0.5), ("hopper", 125, 0.3, 0), ("hopper", 125, 0.3, 0.5)])
STEPS = {"spheres": 1e-3, "shapes": 2e-3, "hopper": 2e-3}
WORDS = {"spheres": "spheres in a box", "shapes": "boxes and capsules", "hopper": "hopper"}
# MuJoCo's variants: step and time constant of its contacts in our steps; None: 0.02 s, its default.
VARIANTS = {"default": (1, None), "stiff": (1, 2)}
FINE_SCENE, FINE = ("spheres", 50, 0.3, 0), (0.1, 0.2)  # once: it takes ten times as many steps


def call(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]  # MuJoCo writes warnings there as well
    return json.loads(lines[-1].replace("nan", "NaN").replace("inf", "Infinity"))


def better(best, key, row):
    if key not in best or row["seconds"] < best[key]["seconds"]:
        best[key] = row


def measure(options):
    best = {}
    for scene in SCENES:
        step = STEPS[scene[0]]
        for _ in range(options.rounds):  # programs take turns, so that what else the machine does hits all alike
            better(best, (scene, "ours"), call(options.ours, *scene))
            for name, (factor, constant) in VARIANTS.items():
                if options.peer.exists():
                    better(best, (scene, name),
                           call(options.peer, *scene, factor * step, 0.02 if constant is None else constant * step))
        if scene == FINE_SCENE and options.peer.exists():
            best[scene, "fine"] = call(options.peer, *scene, *(factor * step for factor in FINE))
        print(json.dumps({str(k[1]): row for k, row in best.items() if k[0] == scene}), file=sys.stderr)
    return best


def cells(row):
    if row is None:
        return "not installed | - | -"
    ended = "" if row["status"] == "success" else f" ({row['status']})"
    return f"{row['seconds']:.2f}{ended} | {row['depth']:.1g} | {row['depth_at_end']:.1g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=pathlib.Path, required=True)
    parser.add_argument("--ours", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for pile_models.json and .md")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    where = machine.machine("libmujoco-dev")
    best = measure(options)
    lines = ["# Piles of bodies", "",
             "Written by `benchmarks/run pile_models`. Bodies fall into a box without a lid, or run out of a hopper (benchmarks/pile_models/scene.hpp); the "
             "same geometry, masses, friction and end time on both sides. Ours: `moreau` with its default settings, one thread. Processor time "
             f"of all steps, the better of {options.rounds} rounds in which the programs take turns. Penetration over the radius, or half the "
             "smallest edge: the deepest at the end of any step, and at the end of the run; of spheres by the same function for both, "
             "of boxes and capsules as each program has it.", "",
             f"Machine: {where['cpu']}, {where['cores']} cores, {where['system']}; {where['compiler']}, `{where['flags']}` (MuJoCo "
             f"{machine.first_line(['dpkg-query', '-W', '-f', '${Version}', 'libmujoco-dev'])} as Debian builds it); load average "
             f"{where['load_average_before']:.1f} at the start; {where['date']}.", "",
             "| scene | bodies | mu | e | ours [s] | deepest | at the end | MuJoCo [s] | deepest | at the end | over ours | stiff [s] | deepest | at the end |",
             "|" + "---|" * 14]
    for scene in SCENES:
        rows = {name: best.get((scene, name)) for name in ("ours", *VARIANTS)}
        ratio = f"{rows['default']['seconds'] / rows['ours']['seconds']:.2f}" if rows["default"] else "-"
        lines.append(f"| {WORDS[scene[0]]} | {scene[1]} | {scene[2]} | {scene[3]} | {cells(rows['ours'])} | {cells(rows['default'])} | {ratio} | "
                     f"{cells(rows['stiff'])} |")
    lines += ["", "MuJoCo: mj_step, Newton's method to 1e-8, pyramidal cones. Its contacts are springs and dampers: with its default time constant of 0.02 s; "
              "stiff: the shortest that it takes, two steps. "
              "There is no law of impact in it: e is put into the damping of the spring.", ""]
    if fine := best.get((FINE_SCENE, "fine")):
        lines += [f"With a tenth of the step and two of those as the time constant MuJoCo takes {fine['seconds']:.1f} s for 50 spheres with mu = 0.3 and e = 0: deepest "
                  f"{fine['depth']:.1g}, at the end {fine['depth_at_end']:.1g} of the radius.", ""]
    options.results.mkdir(exist_ok=True)
    (options.results / "pile_models.md").write_text("\n".join(lines))
    rows = [dict(row, variant=name) for (_, name), row in best.items()]
    (options.results / "pile_models.json").write_text(json.dumps({"machine": where, "rows": rows}, indent=1) + "\n")
    print("\n".join(lines))
    return 0 if all(best[scene, "ours"]["status"] == "success" for scene in SCENES) else 1


if __name__ == "__main__":
    sys.exit(main())
