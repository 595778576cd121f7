# SPDX-License-Identifier: Apache-2.0
"""Every analysis gives from Python what the program prints with --json, bit for bit."""
import json
import os
import pathlib
import signal
import subprocess
import threading

import h5py
import numpy
import pytest

import stickslip

MODELS = pathlib.Path(__file__).parents[2] / "models"
#: What a run of the same analysis may differ in: time that it took, the day, how the model was named and set.
OWN = {"wall_seconds", "date", "model", "seconds", "data", "set"}


def program(tmp_path, *arguments):
    run = subprocess.run([os.environ["STICKSLIP"], *map(str, arguments), "--json", "--out", str(tmp_path / "out")],
                         capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)


def without_own(data):
    if isinstance(data, dict):
        return {key: without_own(value) for key, value in data.items() if key not in OWN}
    return [without_own(each) for each in data] if isinstance(data, list) else data


def same(ours, printed):
    assert without_own(ours.data) == without_own(printed)


def test_check():
    for name in ("two-masses", "four-bar", "dropped-cube"):
        run = subprocess.run([os.environ["STICKSLIP"], "check", str(MODELS / f"{name}.toml"), "--json"], capture_output=True, text=True)
        found = stickslip.load(MODELS / f"{name}.toml").check()
        same(found, json.loads(run.stdout))
        assert found.ok and found.degrees_of_freedom > 0 and "degrees of freedom" in repr(found)
    with pytest.raises(AttributeError, match="degrees_of_freedom"):
        found.degrees


def test_compare(tmp_path):
    case = stickslip.load(MODELS / "two-masses.toml", set={"run.end_time": 1})
    found = case.compare(schemes=["moreau", "splitting"], steps=[0.02, 0.01, 0.005])
    same(found, program(tmp_path, "compare", MODELS / "two-masses.toml", "--schemes", "moreau,splitting", "--steps",
                        "0.02,0.01,0.005", "--set", "run.end_time=1"))
    assert len(found.table()) == 6 and found.plot().axes[0].get_ylabel() == "position error [m, rad]"
    with pytest.raises(stickslip.InputError, match="did you mean 'moreau'"):
        case.compare(schemes="moreu")
    constrained = stickslip.load(MODELS / "skate.toml", set={"run.end_time": 0.3})
    study = constrained.compare(epsilons=[1e-2, 1e-3])
    same(study, program(tmp_path, "compare", MODELS / "skate.toml", "--epsilons", "1e-2,1e-3", "--set", "run.end_time=0.3"))
    assert study.plot().axes[0].get_xlabel() == "epsilon"


def test_a_periodic_motion(tmp_path):
    case = stickslip.load(MODELS / "forced-oscillator.toml")
    found = case.periodic()
    same(found, program(tmp_path, "periodic", MODELS / "forced-oscillator.toml"))
    orbit = numpy.genfromtxt(tmp_path / "out/orbit.csv", delimiter=",", names=True)
    assert (orbit["t"] == found.orbit.t).all() and (orbit["x"] == found.orbit["x"]).all()
    assert (orbit["v_x"] == found.orbit["v_x"]).all() and not found.orbit.position.flags.owndata
    assert found.multipliers.dtype == complex and found.stable is True and found.branch is None
    assert all(each["ok"] for each in found.certificates)
    assert case.periodic(method="event").method == "event"
    assert len(found.plot().axes) == 3 and "period" in found._repr_html_()


def test_a_branch_of_periodic_motions(tmp_path):
    case = stickslip.load(MODELS / "forced-oscillator.toml", set={"periodic.harmonics": 9, "periodic.polish": False})
    found = case.periodic(continue_=("omega", 0.7, 0.8, 0.02))
    same(found, program(tmp_path, "periodic", MODELS / "forced-oscillator.toml", "--continue", "omega=0.7:0.8:0.02", "--set",
                        "periodic.harmonics=9", "--set", "periodic.polish=false"))
    branch = found.branch
    assert branch.value[0] == 0.7 and branch.value[-1] == pytest.approx(0.8) and branch.amplitude.shape == (len(branch), 1)
    assert (case.periodic(continue_="omega=0.7:0.8:0.02").branch.value == branch.value).all()
    assert list(branch.table().columns)[0] == "omega" and found.plot().axes[0].get_xlabel() == "omega"
    with pytest.raises(stickslip.InputError, match="PARAM=FROM:TO"):
        case.periodic(continue_="omega=a:b")
    with pytest.raises(stickslip.InputError, match=r"there is no \[periodic\] table"):
        stickslip.load(MODELS / "two-masses.toml").periodic()


def test_shoot(tmp_path):
    case = stickslip.load(MODELS / "puck-to-target.toml")
    found = case.shoot(check=True)
    same(found, program(tmp_path, "shoot", MODELS / "puck-to-target.toml"))
    assert found.motion["x"][-1] == pytest.approx(0.6, abs=1e-6) and found.sensitivity.shape == (2, 2)
    again = case.copy()
    again.set({"initial.velocity.0": found.unknowns["vx"], "initial.velocity.1": found.unknowns["vy"]})
    assert again.run().final_position == found.motion.final_position
    out_of_reach = case.shoot(conditions=["x - 0.6", "x^2 + 1"])
    assert not out_of_reach.ok and out_of_reach.message
    with pytest.raises(stickslip.AnalysisError) as caught:
        case.shoot(conditions=["x - 0.6", "x^2 + 1"], check=True)
    assert caught.value.result.status == out_of_reach.status


def test_fit(tmp_path):
    short = {"run.step": 0.02}
    case = stickslip.load(MODELS / "belt-fit.toml", set=short)
    found = case.fit()
    same(found, program(tmp_path, "fit", MODELS / "belt-fit.toml", "--set", "run.step=0.02"))
    columns = numpy.genfromtxt(MODELS / "belt-fit.csv", delimiter=",", names=True, skip_header=1)
    again = case.fit({name: columns[name] for name in columns.dtype.names})
    assert again.unknowns == found.unknowns and again.standard_errors == found.standard_errors
    assert found.correlation.shape == (3, 3) and list(found.history_table().columns)[-1] == "viscous"
    with pytest.raises(stickslip.InputError, match="missing.csv"):
        case.fit("missing.csv")


def test_sweep(tmp_path):
    case = stickslip.load(MODELS / "two-masses.toml", set={"run.step": 0.02})
    over = {"epsilon": {"from": 0.05, "to": 0.5, "count": 4}, "beta": [0.1, 0.3, 2.0]}  # beta = 2 is refused
    seen = []
    found = case.sweep(over, keep=["final", "events"], threads=2, progress=lambda done, runs: seen.append((done, runs)))
    printed = program(tmp_path, "sweep", MODELS / "two-masses.toml", "--set", "run.step=0.02", "--over", "epsilon=0.05:0.5:4", "--over",
                      "beta=0.1,0.3,2.0", "--set", 'sweep.keep=["final", "events"]')
    assert found.data["outputs"] == printed["outputs"] and found.data["failed"] == printed["failed"] == 4 and found.runs == 12
    with h5py.File(tmp_path / "out/sweep.h5") as stored:
        assert (stored["swept"][:] == found.swept).all()
        assert numpy.array_equal(stored["outputs"][:], found.outputs, equal_nan=True)
    assert not found.ok and found.statuses.count("refused") == 4 and "beta" in found.messages[2] and len(found) == 12
    assert (found["epsilon"] == found.swept[:, 0]).all() and found["final.position.x1"].shape == (12,)
    assert all(runs == 12 for _, runs in seen) and list(found.table().columns[:2]) == ["epsilon", "beta"]
    assert found.plot("final.position.x1").axes[0].get_xlabel() == "epsilon"
    one = case.copy()
    one.set(epsilon=found.swept[0, 0], beta=found.swept[0, 1])
    assert one.run().final_position[0] == found["final.position.x1"][0]
    with pytest.raises(KeyError, match="final.position.x1"):
        found["x1"]
    with pytest.raises(stickslip.InputError, match="epsilom"):
        case.sweep({"epsilom": [1]})


def test_sweeps_call_functions_of_python_on_their_threads():
    case = stickslip.model(parameters={"c": 0.1}, matrices={"mass": [[1.0]], "force": [lambda t, q, v: 1.0 - q[0]]},
                           friction={"on": "x1", "limit": "c"}, run={"step": 0.02, "end_time": 2})
    found = case.sweep({"c": [0.1, 0.2, 0.3, 0.4]}, threads=2)
    for c, x in zip(found["c"], found["final.position.x1"]):
        case["c"] = c
        assert case.run().final_position[0] == x


def block(path):
    """One contact in space, pulled along a tangent by 0.2 of what it carries, mu = 0.5: it sticks."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="<i4")
        for name, numbers in (("m", [3]), ("n", [3]), ("nz", [-2]), ("nzmax", [3]), ("p", [0, 1, 2, 3]), ("i", [0, 1, 2])):
            group[f"W/{name}"] = numpy.array(numbers, dtype="<i4")
        group["W/x"] = numpy.ones(3)
        group["vectors/q"] = numpy.array([-1.0, 0.2, 0.0])
        group["vectors/mu"] = numpy.array([0.5])
    return path


def test_solve(tmp_path):
    file = block(tmp_path / "block.hdf5")
    found = stickslip.solve(file)
    same(found, {**program(tmp_path, "solve", file), "profiles": found.profiles})
    assert found.reactions[str(file)] == pytest.approx([1.0, -0.2, 0.0], abs=1e-8)
    assert len(stickslip.solve([file], compare=["gauss_seidel", "semismooth_newton"]).table()) == 2
    with pytest.raises(stickslip.InputError, match="nothing.hdf5"):
        stickslip.solve(tmp_path / "nothing.hdf5")


def test_reports_are_pages(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    case = stickslip.load(MODELS / "forced-oscillator.toml", set={"run.end_time": 5})
    for found in (case.run(), case.periodic()):
        page = pathlib.Path(found.show())
        assert opened.pop() == page.as_uri() and "<html" in page.read_text()[:2000] and "Den Hartog" in page.read_text()
        found.save(tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size > 50000
    summary = case.run().summary()
    assert summary["status"] == "success" and summary["set"] == ["run.end_time=5"]


def test_ctrl_c_ends_an_analysis():
    begun = threading.Event()

    def force(t, q, v):
        begun.set()
        return 0.0

    def press():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    case = stickslip.model(matrices={"mass": [[1.0]], "stiffness": [[1.0]], "force": [force]}, initial={"position": [1]},
                           friction={"on": "x1", "limit": 0.01}, run={"step": 1e-5, "end_time": 1e3, "output_step": 1})
    begun.clear()
    thread = threading.Thread(target=press)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        case.compare(schemes=["moreau"], steps=[1e-5])
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
