# SPDX-License-Identifier: Apache-2.0
"""An environment in the manner of Gymnasium (reset, step), and a controller at 1 kHz that brings a block to rest at a target.

    ./run python examples/control_environment.py

A block of 1 kg on a table with a friction limit of 1 N is pushed by at most 3 N. The fastest way to a target pushes with all
force, a = 2 m/s^2, and then brakes with all force, friction helping, a = 4 m/s^2: from rest 1.5 m away it takes 1 s and 0.5 s. Then
the push may be anything below the limit: the block rests, exactly. Returns 1 where the motion differs from that.

Where Gymnasium is installed, `class Block(gymnasium.Env)` with the two spaces is all that is missing.
"""
import sys

import numpy

import stickslip

PERIOD, PUSH, TARGET = 1e-3, 3.0, 1.5


class Block:
    """Observations: position [m] and velocity [m/s]; action: the push [N]; reward: minus the distance from the target [m]."""

    def __init__(self, scheme="event"):
        self.case = stickslip.model(
            title="A block on a table",
            inputs={"push": 0.0},
            matrices={"coordinates": ["x"], "mass": [[1.0]], "force": ["push(t)"]},
            friction={"name": "table", "on": "x", "limit": 1.0},
            run={"scheme": scheme, "step": PERIOD, "end_time": 3.0})
        self.simulation = self.case.simulation(period=PERIOD)

    def reset(self, *, seed=None, options=None):
        """Begins anew, a little beside the origin if a seed is given."""
        start = 0.0 if seed is None else numpy.random.default_rng(seed).uniform(-0.1, 0.1)
        self.simulation.reset(position=[start])
        return self.observation(), {}

    def step(self, action):
        going = self.simulation.step(float(numpy.clip(action, -PUSH, PUSH)))
        distance = abs(self.simulation.position[0] - TARGET)
        terminated = not going and self.simulation.status != "success"  # the run has failed
        truncated = not going  # the time is over
        return self.observation(), -distance, terminated, truncated, {"events": self.simulation.events}

    def observation(self):
        return numpy.concatenate([self.simulation.position, self.simulation.velocity])


def controller(observation):
    """Full push until braking must begin; a small push at rest, which dry friction holds."""
    x, v = observation
    if v <= 0 and abs(x - TARGET) < 1e-6:
        return 0.9
    braking = 0.5 * v * v / (PUSH + 1.0)  # the way that is needed to stop [m]
    return -PUSH if v > 0 and x + braking > TARGET - 1e-9 else PUSH


def main():
    block = Block()
    observation, _ = block.reset()
    truncated, total = False, 0.0
    while not truncated:
        observation, reward, _, truncated, info = block.step(controller(observation))
        total += reward * PERIOD
        for event in info["events"]:
            print(f"t = {event.t:.6f} s: {event.law} {event.kind}")
    result = block.simulation.result()
    stop = next(event.t for event in result.events if event.kind == "stick")
    print(f"at rest at x = {observation[0]:.9f} m from t = {stop:.9f} s on; reward {total:.4f}; {result}")
    good = result.ok and abs(observation[0] - TARGET) < 1e-9 and observation[1] == 0.0 and abs(stop - 1.5) < 1e-9
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
