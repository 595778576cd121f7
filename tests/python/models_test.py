# SPDX-License-Identifier: Apache-2.0
"""Models made in Python are those of files: the same bits with the same numbers, and the same messages."""
import math
import pathlib
import pickle
import subprocess
import sys
import tomllib

import numpy
import pytest

import stickslip

MODELS = pathlib.Path(__file__).parents[2] / "models"


def same_run(a, b, **options):
    a, b = a.run(check=True, **options), b.run(check=True, **options)
    assert (a.t == b.t).all() and (a.position == b.position).all() and (a.reaction == b.reaction).all() and a.events == b.events


@pytest.mark.parametrize("name", ["two-masses", "four-bar", "dropped-cube", "journal-pendulum", "skate", "walking-foot"])
def test_a_file_as_dicts_is_the_same_model(name):
    text = (MODELS / f"{name}.toml").read_text()
    case = stickslip.model(tomllib.loads(text), path=str(MODELS / f"{name}.toml"), set={"run.end_time": 0.2})
    same_run(case, stickslip.load(MODELS / f"{name}.toml", set={"run.end_time": 0.2}))


def chain(matrix, n=40, **more):
    stiffness = 2 * numpy.eye(n) - numpy.eye(n, k=1) - numpy.eye(n, k=-1)
    return stickslip.model(matrices={"mass": matrix(numpy.eye(n)), "stiffness": matrix(50 * stiffness), "force": "sin(t + i)"},
                           friction={"name": "shoe", "on": "x1", "limit": 0.3},
                           run={"step": 0.01, "end_time": 1, **more})


def test_lists_arrays_and_sparse_matrices_are_the_same_numbers():
    sparse = pytest.importorskip("scipy.sparse")
    expected = chain(lambda m: m.tolist())
    for matrix in (numpy.asarray, sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array):
        same_run(chain(matrix), expected)
    assert chain(sparse.csr_matrix).check().matrices == expected.check().matrices


def test_a_model_put_together_piece_by_piece(tmp_path):
    m = stickslip.Model("A pendulum")
    m.parameters(c=0.2).gravity(vector=[0, 0, -9.81])
    m.body(name="rod", mass=1.0, inertia=[0.1, 0.1, 0.1])
    m.hinge(name="pin", parent="ground", child="rod", axes=["ry"], child_position=[0, 0, 0.5], position_0=[1.0])
    m.friction(name="bearing", on="pin.ry", limit="c")
    m.run(scheme="event", end_time=1, step=0.01)
    case = m.case()
    assert case.coordinates == ["pin.ry"] and case.laws == ["bearing"] and "1 body" in repr(m)
    case.save(tmp_path / "pendulum.toml")
    same_run(case, stickslip.load(tmp_path / "pendulum.toml"))
    case["c"] = 0.1
    assert case.run().final_position != m.case().run().final_position
    with pytest.raises(AttributeError, match="no section 'bodies'"):
        m.bodies(name="a")


def push(t, q, v):
    return math.sin(3 * t) - 0.1 * v[0]


def brake(t, q, v):
    return 0.2 + 0.1 * abs(q[0])


def block(force, limit, **run):
    return stickslip.model(parameters={"k": 4.0}, matrices={"coordinates": ["x"], "mass": [[1.0]], "stiffness": [["k"]], "force": [force]},
                           friction=[{"name": "shoe", "on": "x", "limit": limit}], initial={"position": [0.4]},
                           run={"scheme": "moreau", "step": 0.01, "end_time": 3, **run})


@pytest.mark.parametrize("scheme", ["moreau", "event"])
def test_functions_of_python_stand_for_expressions(scheme):
    ours = block(push, brake, scheme=scheme).run(check=True)
    text = block("sin(3*t) - 0.1*v_x", "0.2 + 0.1*abs(x)", scheme=scheme).run(check=True)
    assert abs(ours.position - text.position).max() < 1e-9
    assert [event.kind for event in ours.events] == [event.kind for event in text.events]
    known = block({"function": lambda t, q, v: math.sin(3 * t), "positions": [], "velocities": []}, 0.2, scheme=scheme)
    assert abs(known.run().position - block("sin(3*t)", 0.2, scheme=scheme).run().position).max() < 1e-9


def test_functions_see_arrays_and_their_exceptions_come_through():
    seen = []
    block(lambda t, q, v: seen.append((t, q, v)) or 0.0, 0.1, end_time=0.05).run()
    t, q, v = seen[-1]
    assert isinstance(t, float) and q.shape == (1,) and q.flags.owndata and v.shape == (1,)
    late = {"function": lambda t, q, v: 1 / 0 if t > 1 else 0.0, "positions": [], "velocities": [], "breakpoints": [1.0]}
    with pytest.raises(ZeroDivisionError):
        block(late, 0.1).run()
    with pytest.raises(TypeError, match="real number"):
        block(lambda t, q, v: "1", 0.1).run()
    with pytest.raises(stickslip.InputError, match="there is no 'y'"):
        block({"function": push, "positions": ["y"]}, 0.1)
    with pytest.raises(stickslip.InputError, match="time"):
        block({"function": lambda t, q, v: t, "time": False}, 0.1)


def test_mistakes_have_the_messages_of_files():
    with pytest.raises(stickslip.InputError, match=r"key 'matrices.mas': unknown key \(did you mean 'mass'\?\)"):
        stickslip.model(matrices={"mas": [[1]]})
    with pytest.raises(stickslip.InputError, match="unknown key.*'friction'"):
        stickslip.model(matrices={"mass": [[1]]}, frction=[])
    with pytest.raises(TypeError, match="friction: a dict is expected, or a list of dicts, not str"):
        stickslip.model(matrices={"mass": [[1]]}, friction="shoe")
    with pytest.raises(TypeError, match="is no value of a model"):
        stickslip.model(matrices={"mass": [[object()]]})
    with pytest.raises(stickslip.InputError, match=r"functions come from a program"):
        stickslip.parse('[matrices]\nmass = [[1]]\nforce = [{ function = "f" }]')
    with pytest.raises(stickslip.InputError, match=r"there is no \[run\] table"):
        stickslip.model(matrices={"mass": [[1]]}).run()
    assert stickslip.model(matrices={"mass": [[1]]}).run(step=0.1, end_time=1).ok


def test_cases_with_functions_are_pickled_where_their_functions_can_be():
    case = block(push, brake)
    case["k"] = 3
    same_run(pickle.loads(pickle.dumps(case)), case)
    with pytest.raises(pickle.PicklingError, match="the function friction.shoe.limit of the case cannot be pickled"):
        pickle.dumps(block(push, lambda t, q, v: 0.1))
    with pytest.raises(stickslip.InputError, match="cannot be written to a file: friction.shoe.limit, matrices.force.0"):
        case.save("never.toml")


def test_functions_are_called_from_threads():
    import threading

    case, found = block(push, brake), [None] * 3
    threads = [threading.Thread(target=lambda k=k: found.__setitem__(k, case.run().position)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((each == case.run().position).all() for each in found)


def test_a_case_with_functions_may_outlive_everything():
    code = ("import stickslip\n"
            "keep = stickslip.model(matrices={'mass': [[1]], 'force': [lambda t, q, v: t]}, run={'step': 0.1, 'end_time': 1})\n"
            "result = keep.run()\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
