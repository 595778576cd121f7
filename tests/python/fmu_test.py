# SPDX-License-Identifier: Apache-2.0
"""Functional mock-up units, imported as another program would: the library through its C functions, nothing else."""
import ctypes
import os
import subprocess
import xml.etree.ElementTree as xml
import zipfile

import pytest
import stickslip

PROGRAM = os.environ.get("STICKSLIP")
MODEL = """
title = "Two masses & <a force>"
[parameters]
k = 4.0
[inputs]
push = 0.5
[matrices]
coordinates = ["a", "b"]
mass = [[1, 0], [0, 2]]
stiffness = [["k", -1], [-1, "k"]]
force = ["push(t)", 0]
[[friction]]
name = "shoe"
on = "a"
limit = 0.4
[run]
scheme = "{scheme}"
step = 0.01
end_time = 10
"""
OK, ERROR = 0, 3


class Callbacks(ctypes.Structure):
    LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)
    _fields_ = [("logger", LOGGER), ("allocate", ctypes.c_void_p), ("free", ctypes.c_void_p), ("finished", ctypes.c_void_p), ("environment", ctypes.c_void_p)]


class Unit:
    def __init__(self, folder):
        self.description = xml.parse(folder / "modelDescription.xml").getroot()
        name = self.description.find("CoSimulation").get("modelIdentifier")
        self.library = ctypes.CDLL(str(folder / f"binaries/linux64/{name}.so"))
        self.references = {v.get("name"): int(v.get("valueReference")) for v in self.description.find("ModelVariables")}
        self.said = []
        self.callbacks = Callbacks(logger=Callbacks.LOGGER(lambda e, n, s, c, m, words: self.said.append(words.decode())))
        self.library.fmi2Instantiate.restype = ctypes.c_void_p
        self.library.fmi2GetVersion.restype = ctypes.c_char_p
        self.component = ctypes.c_void_p(self.library.fmi2Instantiate(
            b"unit", 1, self.description.get("guid").encode(), (folder / "resources").as_uri().encode(), ctypes.byref(self.callbacks), 0, 0))

    def start(self, stop=10.0, **values):
        assert self.library.fmi2SetupExperiment(self.component, 0, ctypes.c_double(0), ctypes.c_double(0), 1, ctypes.c_double(stop)) == OK
        for name, value in values.items():
            assert self.set(name, value) == OK, self.said
        assert self.library.fmi2EnterInitializationMode(self.component) == OK
        return self.library.fmi2ExitInitializationMode(self.component)

    def set(self, name, value):
        return self.library.fmi2SetReal(self.component, (ctypes.c_uint * 1)(self.references[name]), ctypes.c_size_t(1), (ctypes.c_double * 1)(value))

    def get(self, *names):
        values = (ctypes.c_double * len(names))()
        assert self.library.fmi2GetReal(self.component, (ctypes.c_uint * len(names))(*[self.references[n] for n in names]), ctypes.c_size_t(len(names)), values) == OK
        return list(values)

    def step(self, t, h):
        return self.library.fmi2DoStep(self.component, ctypes.c_double(t), ctypes.c_double(h), 1)

    def free(self):
        self.library.fmi2FreeInstance(self.component)


@pytest.fixture(params=["moreau", "event"])
def folder(request, tmp_path):
    (tmp_path / "two masses.toml").write_text(MODEL.replace("{scheme}", request.param))
    made = subprocess.run([PROGRAM, "fmu", "two masses.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / "two masses.fmu") as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "un packed")
    return tmp_path


def test_the_description_names_every_variable_once(folder):
    unit = Unit(folder / "un packed")
    assert unit.library.fmi2GetVersion() == b"2.0"
    root = unit.description
    assert root.get("fmiVersion") == "2.0" and root.get("description") == "Two masses & <a force>"
    kinds = {v.get("name"): v.get("causality") for v in root.find("ModelVariables")}
    assert kinds == {"push": "input", "k": "parameter", "a": "output", "b": "output", "v_a": "output", "v_b": "output", "r_shoe": "output"}
    assert len(set(unit.references.values())) == len(kinds)
    assert len(root.find("ModelStructure/Outputs")) == 5
    unit.free()


def test_a_controlled_unit_moves_as_the_model_does_to_the_last_bit(folder):
    unit, other = Unit(folder / "un packed"), Unit(folder / "un packed")
    case = stickslip.load(str(folder / "two masses.toml"))
    case["k"] = 3.0
    simulation = case.simulation(period=0.01)
    assert unit.start(k=3.0) == OK, unit.said
    assert other.start() == OK
    for n in range(300):
        push = 1.5 if n % 100 < 50 else -0.7
        assert unit.set("push", push) == OK and unit.step(n * 0.01, 0.01) == OK, unit.said
        if n % 3 == 0:
            assert other.step(n * 0.01, 0.03) == OK, other.said  # a multiple, and an instance of its own
        simulation.step(push)
        assert unit.get("a", "b", "v_a", "v_b") == [*simulation.position, *simulation.velocity]
    assert unit.get("a") != other.get("a") and unit.get("push", "k") == [-0.7, 3.0]
    unit.free()
    other.free()


def test_mistakes_are_told_to_the_logger(folder):
    unit = Unit(folder / "un packed")
    assert unit.step(0, 0.01) == ERROR and "before" in unit.said[-1]
    assert unit.set("a", 1.0) == ERROR and "output" in unit.said[-1]
    assert unit.start(stop=0.05) == OK
    assert unit.set("k", 1.0) == ERROR and "before exitInitializationMode" in unit.said[-1]
    assert unit.set("push", float("nan")) == ERROR
    assert unit.step(0, 0.015) == ERROR and "multiple" in unit.said[-1]
    assert unit.step(1.0, 0.01) == ERROR and "begins at" in unit.said[-1]
    assert unit.step(0, 0.05) == OK
    assert unit.step(0.05, 0.01) == ERROR
    assert unit.library.fmi2Reset(unit.component) == OK and unit.start() == OK and unit.step(0, 0.01) == OK
    unit.free()
    assert not unit.library.fmi2Instantiate(b"u", 1, b"wrong", (folder / "un packed/resources").as_uri().encode(), ctypes.byref(unit.callbacks), 0, 0)
    assert "guid" in unit.said[-1]
    assert not unit.library.fmi2Instantiate(b"u", 1, b"", (folder / "nowhere").as_uri().encode(), ctypes.byref(unit.callbacks), 0, 0)
