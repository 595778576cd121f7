# SPDX-License-Identifier: Apache-2.0
"""The type stubs name what there is, and no more; everything public says what it is."""
import ast
import inspect
import pathlib

import pytest

import stickslip

STUB = ast.parse((pathlib.Path(stickslip.__file__).with_name("__init__.pyi")).read_text())


def names_in(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node


CLASSES = {name: dict(names_in(node.body)) for name, node in names_in(STUB.body) if isinstance(node, ast.ClassDef)}


def test_every_public_name_has_a_stub():
    stubs = {name for name, _ in names_in(STUB.body)}
    assert set(stickslip.__all__) <= stubs | {"__version__"}
    assert {name for name in stubs if not name.startswith("_")} <= set(stickslip.__all__) | {"Changes"}


@pytest.mark.parametrize("name", ["Case", "Result", "Simulation", "Model"])
def test_stubs_of_classes_are_complete(name):
    there = {each for each in dir(getattr(stickslip, name)) if not each.startswith("_")}
    if name == "Model":
        there.add("sections")  # made by the constructor
    assert {each for each in CLASSES[name] if not each.startswith("_")} == there


@pytest.mark.parametrize("name, method", [(c, m) for c in ("Case", "Result") for m, node in CLASSES[c].items()
                                          if isinstance(node, ast.FunctionDef) and not node.decorator_list
                                          and not m.startswith("__") and m != "copy"])
def test_arguments_of_stubs_are_those_of_the_functions(name, method):
    stub, real = CLASSES[name][method].args, inspect.signature(getattr(getattr(stickslip, name), method))
    assert [each.arg for each in stub.args] == [p.name for p in real.parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]


def test_everything_public_has_a_docstring():
    for name in stickslip.__all__:
        thing = getattr(stickslip, name)
        if not callable(thing) or name == "InputError":
            continue
        assert thing.__doc__, name
        if inspect.isclass(thing) and name in ("Case", "Simulation", "Model", "Branch", "Orbit", "Periodic"):
            for each, value in vars(thing).items():
                if inspect.isfunction(value) and not each.startswith("_"):
                    assert value.__doc__, f"{name}.{each}"
