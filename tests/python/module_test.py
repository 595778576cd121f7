# SPDX-License-Identifier: Apache-2.0
"""The Python module gives what the program gives, bit for bit, and behaves as Python does."""
import copy
import os
import pathlib
import pickle
import signal
import subprocess
import threading

import h5py
import numpy
import pytest

import stickslip

MODELS = pathlib.Path(__file__).parents[2] / "models"
BLOCK = """
[parameters]
k = 4.0
c = 0.5
[matrices]
mass      = [[1.0]]
stiffness = [["k"]]
force     = ["2*sin(t)"]
[[friction]]
name  = "shoe"
on    = "x1"
limit = "c"
[run]
step     = 0.01
end_time = 5
"""


@pytest.mark.parametrize("name, scheme", [("two-masses", "moreau"), ("two-masses", "event"), ("two-masses", "splitting"),
                                          ("two-hinges", "event"), ("four-bar", "event"), ("dropped-cube", "compliant")])
def test_results_are_those_of_the_program_bit_for_bit(tmp_path, name, scheme):
    settings = ["run.end_time=0.5"]
    command = [os.environ["STICKSLIP"], "run", str(MODELS / f"{name}.toml"), "--scheme", scheme, "--out", str(tmp_path / "r")]
    program = subprocess.run(command + ["--set", settings[0]], capture_output=True, text=True)
    assert program.returncode == 0, program.stderr
    result = stickslip.load(MODELS / f"{name}.toml", set=settings + [f"run.scheme={scheme}"]).run(check=True)
    with h5py.File(tmp_path / "r/result.h5") as stored:
        assert (stored["t"][:] == result.t).all()
        for table in ("position", "velocity", "reaction"):
            assert stored[table].shape == getattr(result, table).shape
            assert (stored[table][:] == getattr(result, table)).all(), table
        assert len(stored["events"]["t"] if isinstance(stored["events"], h5py.Group) else stored["events"]) == len(result.events)


def test_numbers_of_a_case_are_live_and_wrong_ones_leave_it_as_it_was():
    case = stickslip.parse(BLOCK)
    assert case["k"] == 4 and case.parameters == {"k": 4.0, "c": 0.5}
    first = case.run().position.copy()
    case["k"] = 3
    assert case["k"] == 3 and (case.run().position != first).any()
    case.set({"friction.shoe.limit": 0.25, "run.step": 0.02}, k=4)
    assert case["run.step"] == 0.02 and case["k"] == 4
    with pytest.raises(stickslip.InputError, match="no parameter 'kk'"):
        case["kk"] = 1
    with pytest.raises(ValueError, match="limit"):
        case["friction.shoe.limit"] = -1
    assert case["friction.shoe.limit"] == 0.25
    fresh = stickslip.parse(BLOCK, set={"friction.shoe.limit": 0.25, "run.step": 0.02})
    assert (fresh.run().position == case.run().position).all()


def test_texts_lists_and_arrays_are_taken_as_values():
    case = stickslip.parse(BLOCK)
    case["run.scheme"] = "event"
    case["initial.position"] = numpy.array([0.25])
    case["initial.velocity"] = [1]
    case["k"] = numpy.float64(3)
    assert case.scheme == "event" and case["initial.position.0"] == 0.25
    result = case.run()
    assert result.scheme == "event" and result.position[0, 0] == 0.25 and result.velocity[0, 0] == 1
    assert stickslip.parse(BLOCK).run(scheme="event", end_time=1).final_time == 1
    with pytest.raises(stickslip.InputError, match="run.scheme"):
        case.run(scheme="evnt")


def test_arrays_are_views_that_outlive_the_result_and_cannot_be_written():
    result = stickslip.parse(BLOCK).run()
    table = result.position
    assert numpy.shares_memory(table, result.position) and not table.flags.owndata
    before = table[-1, 0]
    del result
    assert table[-1, 0] == before
    with pytest.raises(ValueError):
        table[0, 0] = 1
    energy = stickslip.parse(BLOCK).run().energy
    balance = energy["kinetic"] + energy["potential"] - energy["work_in"] + energy["friction_loss"]
    assert abs(balance - balance[0]).max() < 1e-3 * energy["work_in"].max()


def test_columns_events_audit_and_texts_of_a_result():
    result = stickslip.parse(BLOCK).run(scheme="event")
    assert (result["x1"] == result.position[:, 0]).all() and (result["v_x1"] == result.velocity[:, 0]).all()
    assert (result["r_shoe"] == result.reaction[:, 0]).all()
    with pytest.raises(KeyError, match="x1, v_x1, r_shoe"):
        result["x"]
    assert result.events[0].law == "shoe" and {event.kind for event in result.events} <= {"stick", "slip", "reversal"}
    assert result.mode.shape == (len(result.t), 1) and stickslip.MODES[result.mode[-1, 0]] in ("stick", "slip+", "slip-")
    assert all(item.ok for item in result.audit) and any(item.limit is not None for item in result.audit)
    assert repr(result).startswith("<stickslip.Result success: event") and "<table>" in result._repr_html_()
    assert "k=4, c=0.5" in repr(stickslip.parse(BLOCK))
    assert list(result.events_table()["kind"]) == [event.kind for event in result.events]


def test_failures_are_statuses_and_bad_input_has_the_messages_of_the_program(tmp_path):
    with pytest.raises(stickslip.InputError, match=r"bad.toml:\d+:\d+: key 'run.stpe'.*did you mean 'step'"):
        stickslip.parse(BLOCK.replace("step  ", "stpe  "), "bad.toml")
    with pytest.raises(stickslip.InputError, match="missing.toml"):
        stickslip.load(tmp_path / "missing.toml")
    stopped = stickslip.parse(BLOCK).run(watch=lambda t, q, v: t < 1)
    assert stopped.status == "interrupted" and 0.99 < stopped.final_time < 1.02 and not stopped.ok
    with pytest.raises(stickslip.RunError, match="interrupted") as caught:
        stickslip.parse(BLOCK).run(watch=lambda t, q, v: False, check=True)
    assert len(caught.value.result.t) > 0
    with pytest.raises(ZeroDivisionError):
        stickslip.parse(BLOCK).run(watch=lambda t, q, v: 1 / 0)


def test_cases_are_values_that_can_be_copied_and_pickled():
    case = stickslip.load(MODELS / "two-masses.toml")
    case["epsilon"] = 0.2
    case["run.scheme"] = "event"
    for twin in (pickle.loads(pickle.dumps(case)), copy.copy(case), copy.deepcopy(case), case.copy()):
        assert twin.settings == case.settings and (twin.run().position == case.run().position).all()
        twin["epsilon"] = 0.3
        assert case["epsilon"] == 0.2


def test_threads_run_at_once_with_the_same_results():
    case = stickslip.parse(BLOCK)
    expected, found = case.run().position, [None] * 4

    def work(k):
        found[k] = case.run().position

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((each == expected).all() for each in found)


def test_ctrl_c_ends_a_run_with_keyboard_interrupt():
    signal.signal(signal.SIGALRM, signal.default_int_handler)  # what Ctrl-C does, a moment after the run has begun
    with pytest.raises(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        stickslip.parse(BLOCK).run(end_time=1e7, output_step=1e6)


def test_plots_name_their_axes_with_units(tmp_path):
    figure = stickslip.load(MODELS / "two-masses.toml").run().plot()
    assert [axis.get_ylabel() for axis in figure.axes] == ["position [m, rad]", "velocity [m/s, rad/s]", "reaction [N, N m]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10000
    assert len(stickslip.parse(BLOCK).run().plot(columns=["x1"]).axes) == 1
    with pytest.raises(KeyError):
        stickslip.parse(BLOCK).run().plot(columns=["y"])
