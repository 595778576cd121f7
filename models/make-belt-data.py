#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measurements for belt-fit.toml: its motion with known friction, and noise.

    models/make-belt-data.py [--program stickslip] [--seed 1] [--noise 0.02] > models/belt-fit.csv
"""
import argparse
import csv
import pathlib
import random
import subprocess
import sys
import tempfile

TRUTH = {"limit": 1.0, "static_limit": 1.5, "viscous": 0.1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="stickslip")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.02, help="standard deviation of the position [m]")
    options = parser.parse_args()
    model = pathlib.Path(__file__).resolve().parent / "belt-fit.toml"
    with tempfile.TemporaryDirectory() as folder:
        settings = [word for key, value in TRUTH.items() for word in ("--set", f"friction.belt.{key}={value}")]
        command = [options.program, "run", model, "--out", folder, "--json", "--set", "run.output_step=0.1", *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(pathlib.Path(folder) / "trajectory.csv") as file:
            rows = list(csv.DictReader(file))
    noise = random.Random(options.seed)
    print(f"# positions of belt-fit.toml with {TRUTH}, normal noise of {options.noise} m, seed {options.seed}")
    print("t,x")
    for row in rows[1:]:
        print(f"{float(row['t']):.1f},{float(row['x']) + noise.gauss(0, options.noise):.6f}")


if __name__ == "__main__":
    sys.exit(main())
