# SPDX-License-Identifier: Apache-2.0
"""What is given in a wrong kind is refused in words, by its name; nothing of the bindings reaches whoever calls."""
import numpy
import pytest

import stickslip


@pytest.fixture(scope="module")
def two():
    return stickslip.model(inputs={"push": 0.0, "pull": 0.0}, matrices={"coordinates": ["x"], "mass": [[1.0]], "force": ["push(t) - pull(t)"]},
                           friction={"name": "shoe", "on": "x", "limit": 0.4}, run={"scheme": "moreau", "step": 1e-3, "end_time": 0.01})


@pytest.fixture
def one():
    return stickslip.model(inputs={"push": 0.0}, parameters={"k": 1.0},
                           matrices={"coordinates": ["x"], "mass": [[1.0]], "stiffness": [["k"]], "force": ["push(t)"]},
                           friction={"name": "shoe", "on": "x", "limit": 0.4}, run={"scheme": "moreau", "step": 1e-3, "end_time": 0.01})


def refused(call, said, kind=(TypeError, ValueError)):
    with pytest.raises(kind) as raised:
        call()
    message = str(raised.value)
    assert said in message, message
    for word in ("pybind", "C++", "incompatible function arguments", "incompatible constructor arguments", "arg0", "Internal error", "Unable to cast"):
        assert word not in message, message


@pytest.mark.parametrize("given, said", [
    ("a", "'a' of type str"), (["a", "b"], "input push: a number is expected, not 'a'"), (None, "step(None)"), ([1, [2]], "input pull: a number is expected"),
    ([10**400, 1], "input push: the number is larger"), ({"push": "x"}, "input push: a number is expected, not 'x'"), ({1: 2}, "names are texts"),
    ({"pul": 1}, "there is no input 'pul'"), ([1j, 1], "of type complex"), ([None, 1], "NoneType"), (b"ab", "of type bytes"), (object(), "of type object"),
    (numpy.array(["a", "b"]), "input push"), ([1, 2, 3], "step() got 3 numbers, but the inputs are: push, pull"), ([float("nan"), 1], "finite"),
    (1.0, "step() got 1 number, but the inputs are"), ({1, 2}, "of type set")])
def test_inputs_of_a_step(two, given, said):
    simulation = two.simulation(period=1e-3)
    refused(lambda: simulation.step(given), said)
    assert simulation.t == 0 and simulation.step([1, 2])


def test_inputs_of_every_kind_of_number_are_taken(two, one):
    from fractions import Fraction

    for given in ([1, 2], (1.0, 2), numpy.array([1, 2]), numpy.array([1.0, 2.0]), numpy.array([[1, 2]], dtype=numpy.float32), [numpy.float64(1), Fraction(2)],
                  {"push": 1, "pull": numpy.int8(2)}):
        simulation = two.simulation()
        simulation.step(given)
        assert simulation.inputs == {"push": 1, "pull": 2}
    for given in (3, 3.0, numpy.float32(3), numpy.array(3.0), Fraction(3), [3]):
        simulation = one.simulation()
        simulation.step(given)
        assert simulation.inputs == {"push": 3}


@pytest.mark.parametrize("value, said", [(10**400, "k: the number is larger"), (None, "NoneType"), (object(), "is no value of a model"), ({1: 2}, "names are texts"),
                                         (1j, "is no value of a model"), ([10**400], "larger")])
def test_numbers_of_a_case(one, value, said):
    refused(lambda: one.__setitem__("k", value), said)
    assert one["k"] == 1


def test_names_of_a_case(one):
    refused(lambda: one[3], "names are texts")
    refused(lambda: one.__setitem__(3, 1), "names are texts")
    refused(lambda: one.set({3: 1}), "a key of set()")
    refused(lambda: one.set(3), "a dict is expected")


def test_a_controller_that_forgets_to_return_is_noticed(one):
    refused(lambda: one.run(controller=lambda t, q, v: None), "the controller gave None at t = 0 s", TypeError)
    assert one.run(controller=lambda t, q, v: {}).ok


def test_arguments_of_calls(one):
    refused(lambda: stickslip.load(None), "path: a path")
    refused(lambda: stickslip.load(3), "path: a path")
    refused(lambda: stickslip.parse(3), "text: a text is expected, not 3")
    refused(lambda: stickslip.parse("", set=3), "set: a list of texts")
    refused(lambda: stickslip.parse("", set=[3]), "set[0]: a text is expected")
    refused(lambda: stickslip.model(3), "sections: a dict")
    refused(lambda: one.run(watch=3), "watch: a function is expected")
    refused(lambda: one.run(controller=3), "controller: a function is expected")
    refused(lambda: one.simulation(period="a"), "period: a number is expected, not 'a'")
    simulation = one.simulation()
    refused(lambda: simulation.reset(position="a"), "position: a list of numbers")
    refused(lambda: simulation.reset(position=1), "position: a list of numbers")
    refused(lambda: simulation.reset(position=[None]), "position[0]: a number is expected")
    refused(lambda: one.sweep(3), "over: a dict")
    refused(lambda: one.sweep({3: [1]}), "a key of over")
    refused(lambda: one.sweep({"k": [1]}, threads="a"), "threads: a whole number")
    refused(lambda: one.sweep({"k": [1]}, threads=-1), "threads = -1")
    refused(lambda: one.sweep({"k": [1]}, progress=3), "progress: a function")
    refused(lambda: one.sweep({"k": [1]}, out=3), "out: a path")
    refused(lambda: one.compare(steps="a"), "steps: a list of numbers")
    refused(lambda: one.compare(schemes=3), "schemes: a list of texts")
    refused(lambda: one.periodic(continue_=3), "continue_: a dict")
    refused(lambda: one.periodic(further="a"), "further: a whole number")
    refused(lambda: one.fit(data={"t": ["a"]}), "data['t'][0]: a number")
    refused(lambda: one.bifurcation("k"), "KEY=FROM:TO:COUNT")
    refused(lambda: one.bifurcation(("k", 1, 2)), "give (number, from, to, count)")
    refused(lambda: one.bifurcation(("k", 1, 1, 5)), "two different ends")
    refused(lambda: stickslip.solve(3), "files: a path")
    refused(lambda: stickslip.solve("x", tolerance="a"), "tolerance: a number")
