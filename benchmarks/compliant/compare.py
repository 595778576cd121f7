#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of compliant contacts: per evaluation of the right-hand side, and per second of motion beside `moreau` (ours alone)."""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402

RUN = """
[run]
scheme = "{scheme}"
tolerance = 1e-6
step = 1e-3
end_time = {end}
output_step = {end}
"""


def row_of_blocks(contacts, coupled):
    """Blocks of 1 kg, each on a point of its own; coupled: one stiffness and damping matrix over neighbours."""
    n = contacts
    names = [f"{c}{i}" for i in range(n) for c in "xyz"]
    identity = [[1 if i == j else 0 for j in range(3 * n)] for i in range(3 * n)]
    force = [-9.81 if c == 2 else 0 for _ in range(n) for c in range(3)]
    text = f"[matrices]\ncoordinates = {json.dumps(names)}\nmass = {identity}\nforce = {force}\n"
    for i in range(n):
        own = "" if coupled else "compliance = { stiffness = [[1e4, 500, 0], [500, 8e3, 0], [0, 0, 8e3]], damping = 90 }\n"
        text += f'[[contact]]\ngap = "z{i}"\nslip = ["x{i}", "y{i}"]\nmu = 0.3\n{own}'
    if coupled:
        def near(size, block, diagonal, beside):
            return [[diagonal if i == j else beside if abs(i - j) == block else 0 for j in range(size)] for i in range(size)]
        K = [[0] * 3 * n for _ in range(3 * n)]
        for i, line in enumerate(near(n, 1, 1e4, 500)):
            K[i][:n] = line
        for i, line in enumerate(near(2 * n, 2, 8e3, 400)):
            K[n + i][n:] = line
        text += f"[compliance]\nstiffness = {K}\ndamping = {near(2 * n, 2, 90, 10)}\n"
    position = [0 if c < 2 else -9.81e-4 for _ in range(n) for c in range(3)]
    velocity = [(1 + 0.5 * i / n if c == 0 else 0.5 if c == 1 else 0) for i in range(n) for c in range(3)]
    return text + f"[initial]\nposition = {position}\nvelocity = {velocity}\n"


def cubes(count):
    side = round(count ** 0.5)
    return f"""
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "cube"
count = {count}
mass = 0.5
position_0 = ["0.2*mod(i, {side})", "0.2*floor(i/{side})", "0.08 + 0.001*mod(i, 7)"]
velocity_0 = [0.3, 0.1, 0]
[[shape]]
body = "cube"
kind = "box"
size = [0.1, 0.1, 0.1]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["cube", "ground"]
mu = 0.4
compliance = {{ stiffness = 5000, damping = 20, normal_damping = 15 }}
"""


def dominoes():
    """The model of that name; stiffness and damping by default."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "models" / "dominoes.toml").read_text()
    return text[:text.index("[run]")]


def run(program, text, scheme, end, *settings):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.toml"
        path.write_text(text + RUN.format(scheme=scheme, end=end))
        extra = [part for setting in settings for part in ("--set", setting)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([program, "run", path, "--json", "--out", f"{folder}/out", *extra], stdout=subprocess.PIPE, text=True)
        summary = json.loads(done.stdout)
        if summary["status"] != "success":
            raise SystemExit(f"{summary['status']}: {summary['message']}")
        summary["cpu_seconds"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return summary


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for compliant.json and .md")
    options = parser.parse_args()
    where = machine.machine("libsundials-dev")
    cases = [("1 contact", row_of_blocks(1, False), 0.5), ("4 contacts", row_of_blocks(4, False), 0.5),
             ("4 contacts, coupled", row_of_blocks(4, True), 0.5), ("100 contacts", row_of_blocks(100, False), 0.2),
             ("100 contacts, coupled", row_of_blocks(100, True), 0.05), ("100 bodies (400 points)", cubes(100), 0.2),
             ("dominoes, stiff", dominoes(), 0.3)]
    rows = []
    for name, text, end in cases:
        integrator = "automatic" if "stiff" in name else "explicit"
        compliant = run(options.program, text, "compliant", end, f"run.compliant.integrator={integrator}")
        row = {"name": name, "evaluations": compliant["audit"]["evaluations"]["value"], "end_time": end,
               "compliant_seconds": compliant["cpu_seconds"]}
        if "coupled" not in name:
            moreau = run(options.program, text, "moreau", end, "run.moreau.start_penetration=0.01")
            row["moreau_steps"], row["moreau_seconds"] = moreau["steps"], moreau["cpu_seconds"]
        rows.append(row)
        print(row, file=sys.stderr)
    lines = ["# Compliant contacts", "",
             "Written by `benchmarks/run compliant`. CPU time of whole runs of the program, with reading, audit and results; "
             "`compliant` explicit at tolerance 1e-6 (dominoes: automatic, which takes the implicit method), `moreau` with steps of 1 ms (rigid contact, another problem: it says what the "
             "compliance costs, not which is better).", "",
             f"Machine: {where['cpu']}, {where['cores']} cores, {where['system']}; {where['compiler']}; "
             f"load average {where['load_average_before']:.1f} at the start; {where['date']}.", "",
             "| | evaluations per s of motion | µs per evaluation | s per s of motion | `moreau`: µs per step | s per s of motion |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        rigid = "- | -"
        if "moreau_seconds" in row:
            rigid = f"{1e6 * row['moreau_seconds'] / row['moreau_steps']:.3g} | {row['moreau_seconds'] / row['end_time']:.3g}"
        lines.append(f"| {row['name']} | {row['evaluations'] / row['end_time']:.4g} | "
                     f"{1e6 * row['compliant_seconds'] / row['evaluations']:.3g} | "
                     f"{row['compliant_seconds'] / row['end_time']:.3g} | {rigid} |")
    (options.results / "compliant.json").write_text(json.dumps({"machine": where, "rows": rows}, indent=1) + "\n")
    (options.results / "compliant.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
