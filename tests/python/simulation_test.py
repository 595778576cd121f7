# SPDX-License-Identifier: Apache-2.0
"""Runs step by step: the same bits as a run, and inputs that count from the step on that they are set for."""
import math
import os
import pathlib
import signal
import threading

import numpy
import pytest

import stickslip

MODELS = pathlib.Path(__file__).parents[2] / "models"
MASSES = """
[inputs]
u = 0.0
belt = 0.2
brake = 1.0
[matrices]
mass      = [[2, 1], [1, 2]]
stiffness = [[4, -1], [-1, 4]]
force     = ["u(t)", 0]
[[friction]]
name  = "shoe"
on    = "x1"
limit = "brake(t)"
[[friction]]
name  = "belt"
on    = "x2"
limit = 1.0
surface_velocity = "belt(t)"
[initial]
position = [0.1, 0]
[run]
step     = 0.01
end_time = 1
"""


@pytest.mark.parametrize("model", ["two-masses", "four-bar", "bouncing-ball"])
@pytest.mark.parametrize("scheme", ["moreau", "event"])
def test_steps_are_those_of_a_run_bit_for_bit(model, scheme):
    case = stickslip.load(MODELS / f"{model}.toml", set={"run.end_time": 0.3, "run.step": 0.005, "run.scheme": scheme})
    expected = case.run()
    simulation = case.simulation()
    times, positions = [simulation.t], [simulation.position]
    while not simulation.done:
        simulation.step()
        times.append(simulation.t)
        positions.append(simulation.position)
    result = simulation.result()
    for table in ("t", "position", "velocity", "reaction"):
        assert (getattr(result, table) == getattr(expected, table)).all(), table
    assert result.events == expected.events and result.audit == expected.audit and result.steps == expected.steps
    assert times[-1] == expected.final_time and (positions[-1] == expected.final_position).all()


def as_table(values, period):
    """A step function as [tables] writes it: two points at each jump."""
    x = [t for k in range(len(values)) for t in (round(k * period, 9), round((k + 1) * period, 9))]
    return f"{{ x = {x}, y = {[float(v) for v in values for _ in range(2)]} }}"


@pytest.mark.parametrize("scheme, difference", [("moreau", 0), ("splitting", 0), ("event", 1e-11)])
def test_inputs_count_as_step_functions_do(scheme, difference):
    random = numpy.random.default_rng(7)
    u, belt, brake = random.uniform(-3, 3, 10), random.uniform(-1, 1, 10), random.uniform(0.2, 2, 10)
    tables = "[tables]\n" + "".join(f"{name} = {as_table(values, 0.1)}\n"
                                    for name, values in (("u", u), ("belt", belt), ("brake", brake)))
    options = {"run.scheme": scheme, "run.output_step": 0.1}
    expected = stickslip.parse(tables + MASSES[MASSES.index("[matrices]"):], set=options).run(check=True)
    options.update({"inputs.u": u[0], "inputs.belt": belt[0], "inputs.brake": brake[0]})
    simulation = stickslip.parse(MASSES, set=options).simulation(period=0.1)
    for k in range(10):
        simulation.step(u=u[k], belt=belt[k], brake=brake[k])
    result = simulation.result()
    assert result.ok, result.message
    assert abs(result.position - expected.position).max() <= difference
    assert [event.kind for event in result.events] == [event.kind for event in expected.events]


def test_ways_to_give_inputs_and_mistakes():
    simulation = stickslip.parse(MASSES).simulation()
    assert simulation.inputs == {"u": 0.0, "belt": 0.2, "brake": 1.0} and simulation.period == 0.01
    simulation.step([1, 2, 3])
    simulation.step({"u": 4})
    assert simulation.inputs == {"u": 4.0, "belt": 2.0, "brake": 3.0}
    simulation.step(numpy.array([5.0, 6, 7]))
    simulation.step(brake=numpy.float64(1))
    simulation.step()
    assert simulation.inputs == {"u": 5.0, "belt": 6.0, "brake": 1.0} and simulation.t == pytest.approx(0.05)
    assert simulation.position.flags.owndata and simulation.mode.shape == (2,) and simulation.reaction.shape == (2,)
    with pytest.raises(stickslip.InputError, match="got 2 numbers, but the inputs are: u, belt, brake"):
        simulation.step([1, 2])
    with pytest.raises(stickslip.InputError, match="no input 'brak'.*did you mean 'brake'"):
        simulation.step(brak=1)
    with pytest.raises(stickslip.InputError, match="input u = nan"):
        simulation.step(u=float("nan"))
    with pytest.raises(stickslip.InputError, match="no multiple of the step"):
        stickslip.parse(MASSES).simulation(period=0.015)
    with pytest.raises(stickslip.InputError, match=r"name them under \[inputs\]"):
        stickslip.load(MODELS / "two-masses.toml").simulation().step(1.0)
    with pytest.raises(stickslip.InputError, match="is a table: write u"):
        stickslip.parse(MASSES.replace("u(t)", "u"))
    while simulation.step():
        pass
    with pytest.raises(stickslip.InputError, match="the run is over at t = 1 s"):
        simulation.step()


def test_inputs_of_a_plain_run_are_numbers_of_the_case():
    case = stickslip.parse(MASSES)
    case["inputs.u"] = 2.5
    assert case.inputs["u"] == 2.5 == case["inputs.u"]
    simulation = stickslip.parse(MASSES).simulation()
    while simulation.step(u=2.5):
        pass
    assert (simulation.result().position == case.run().position).all()


def test_a_controller_brakes_and_reset_begins_anew():
    case = stickslip.parse(MASSES)
    control = lambda t, q, v: {"u": -8 * v[0] - 20 * (q[0] - 0.5) + 3 * 0.5, "brake": 0.05}
    result = case.run(controller=control, period=0.02, end_time=10, step=0.01)
    assert result.ok and abs(result.position[-1, 0] - 0.5) < 0.02
    simulation = case.simulation(period=0.02, end_time=10, keep=False)
    for _ in range(2):
        while simulation.step(control(simulation.t, simulation.position, simulation.velocity)):
            pass
        assert simulation.position.tolist() == result.final_position
        simulation.reset()
        assert simulation.t == 0 and simulation.position.tolist() == [0.1, 0] and simulation.inputs["u"] == 0
    simulation.reset(position=[0.3, 0], velocity=[0, 1])
    assert simulation.position.tolist() == [0.3, 0] and simulation.velocity.tolist() == [0, 1]
    with pytest.raises(stickslip.InputError, match="position has 1 numbers, expected 2"):
        simulation.reset(position=[0.3])
    assert len(simulation.result().t) == 0  # keep = False


def test_a_jump_of_an_input_is_an_event_at_once():
    for scheme in ("moreau", "event"):
        simulation = stickslip.parse(MASSES, set={"run.scheme": scheme, "initial.position": [0, 0], "inputs.belt": 0.0}).simulation()
        simulation.step()
        assert not simulation.events and stickslip.MODES[simulation.mode[0]] == "stick"
        simulation.step(u=5)
        assert [(event.law, event.kind) for event in simulation.events][0] == ("shoe", "slip")
        assert 0.01 <= simulation.events[0].t <= 0.02


def test_simulations_of_one_case_do_not_see_each_other():
    case = stickslip.parse(MASSES)
    expected = [case.run(controller=lambda t, q, v, a=a: {"u": a}).final_position for a in range(4)]
    found = [None] * 4

    def work(a):
        found[a] = case.run(controller=lambda t, q, v: {"u": a}).final_position

    threads = [threading.Thread(target=work, args=(a,)) for a in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("scheme, period", [("moreau", 90), ("event", 90)])
def test_ctrl_c_ends_a_long_step(scheme, period):
    begun = threading.Event()

    def force(t, q, v):
        begun.set()
        return math.sin(1e3 * t * t)

    def press():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    case = stickslip.model(matrices={"mass": [[1.0]], "force": [{"function": force, "positions": [], "velocities": []}]},
                           friction={"on": "x1", "limit": 0.1}, run={"scheme": scheme, "step": 1e-5, "end_time": period})
    with pytest.raises(KeyboardInterrupt):
        simulation = case.simulation(period=period, keep=False)
        begun.clear()
        thread = threading.Thread(target=press)
        thread.start()
        simulation.step()
    thread.join()
    assert simulation.t < period
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_simulation_belongs_to_one_call_at_a_time():
    seen = []

    def force(t, q, v):
        if simulation is not None:
            try:
                simulation.t
            except RuntimeError as error:
                seen.append(str(error))
        return 0.0

    simulation = None
    simulation = stickslip.model(matrices={"mass": [[1.0]], "force": [force]}, run={"step": 0.1, "end_time": 1}).simulation()
    simulation.step()
    assert seen and "one call, at a time" in seen[0]


def test_setting_a_case_while_others_compute_is_no_race():
    case, over = stickslip.load(MODELS / "forced-oscillator.toml", set={"run.end_time": 1}), threading.Event()

    def work():
        k = 0
        while not over.is_set():
            case["c"] = 0.3 + 0.01 * (k % 10)
            k += 1

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(10):
        assert case.check().ok and case.run().ok and case.simulation().step()
    over.set()
    thread.join()

