# SPDX-License-Identifier: Apache-2.0
"""What Python costs: a call of run, a step with a controller, a function of Python, a sweep.

    benchmarks/run python

Processor time of one thread, the best of several: what other work of the machine does not change much.
"""
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import machine

import stickslip

STEPS = 2000


def masses(scheme, force="u(t)", **run):
    return stickslip.model(inputs={"u": 0.0}, matrices={"mass": [[2, 1], [1, 2]], "stiffness": [[4, -1], [-1, 4]], "force": [force, 0]},
                           friction=[{"on": "x1", "limit": 0.5}, {"on": "x2", "limit": 0.5}], initial={"position": [1, 0]},
                           run={"scheme": scheme, "step": 1e-3, "end_time": STEPS * 1e-3, **run})


def best(work, repeat=7):
    times = []
    for _ in range(repeat):
        begin = time.thread_time()
        work()
        times.append(time.thread_time() - begin)
    return min(times)


def control(simulation):
    simulation.reset()
    while simulation.step(0.5 - 0.1 * simulation.velocity[0] - 0.2 * simulation.position[0]):
        pass


def measure(scheme):
    case = masses(scheme)
    one = masses(scheme, end_time=1e-3)
    step = best(case.run) / STEPS
    simulation = case.simulation(keep=False)
    row = {"scheme": scheme, "step_us": 1e6 * step, "call_us": 1e6 * (best(lambda: [one.run() for _ in range(200)]) / 200 - step),
           "set_and_call_us": 1e6 * (best(lambda: [one.run(end_time=1e-3) for _ in range(200)]) / 200 - step),
           "controlled_step_us": 1e6 * best(lambda: control(simulation)) / STEPS}
    row["controlled_steps_per_second"] = round(1e6 / row["controlled_step_us"])
    if scheme != "splitting":  # its forces depend on time alone
        calls = [0]

        def force(t, q, v):
            calls[0] += 1
            return 0.0

        called = masses(scheme, force)
        called.run()
        calls[0] = 0
        seconds = best(called.run)
        row["calls_of_a_function_per_step"] = calls[0] / 7 / STEPS
        row["step_with_a_function_us"] = 1e6 * seconds / STEPS
    return row


def text(rows, label):
    lines = ["# What Python costs", "", "Two masses, two friction laws, steps of 1 ms; processor time of one thread, best of seven.", "",
             "| scheme | step in C++ [µs] | a call of `run` beside its steps [µs] | with an option [µs] | step with a controller in Python [µs] | per second | step with a force in Python [µs] | calls of it |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        function = ([f"{row['step_with_a_function_us']:.1f}", f"{row['calls_of_a_function_per_step']:.1f}"]
                    if "step_with_a_function_us" in row else ["-", "-"])
        lines.append("| " + " | ".join([row["scheme"], f"{row['step_us']:.2f}", f"{row['call_us']:.1f}", f"{row['set_and_call_us']:.1f}",
                                        f"{row['controlled_step_us']:.1f}", str(row["controlled_steps_per_second"]), *function]) + " |")
    return "\n".join(lines + ["", f"{label['cpu']}, {label['cores']} cores, load {label['load_average_before']:.1f} before, "
                                  f"{label['system']}, {label['date']}.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, help="folder for python.json and python.md")
    arguments = parser.parse_args()
    label = {**machine("none"), "flags": "-O3 -DNDEBUG"}
    rows = [measure(scheme) for scheme in ("moreau", "splitting", "event")]
    page = text(rows, label)
    print(page)
    if arguments.results:
        (arguments.results / "python.json").write_text(json.dumps({"machine": label, "rows": rows}, indent=1) + "\n")
        (arguments.results / "python.md").write_text(page)


if __name__ == "__main__":
    main()
