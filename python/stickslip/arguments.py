# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong kind are refused here, by their name, before they reach the compiled part."""
import importlib
import math
import operator
import os

from ._core import InputError


def _refuse(name, expected, value):
    raise TypeError(f"{name}: {expected} is expected, not {value!r:.60} of type {type(value).__name__}")


def number(name, value, optional=True):
    """A float, or None."""
    if value is None and optional:
        return None
    if isinstance(value, (str, bytes)):
        _refuse(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name}: the number is larger than any that can be computed with (1.8e308)") from None
    except (TypeError, ValueError):
        _refuse(name, "a number", value)


def numbers(name, values, optional=True):
    """A list of floats, or None."""
    if values is None and optional:
        return None
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        _refuse(name, "a list of numbers", values)
    return [number(f"{name}[{k}]", value, optional=False) for k, value in enumerate(values)]


def whole(name, value, least):
    try:
        value = operator.index(value)
    except TypeError:
        _refuse(name, "a whole number", value)
    if value < least or value >= 2**31:
        raise InputError(f"{name} = {value}: it must be from {least} to {2**31 - 1}")
    return value


def text(name, value):
    if not isinstance(value, str):
        _refuse(name, "a text", value)
    return value


def texts(name, values):
    if isinstance(values, str):
        return [values]
    if values is None or not hasattr(values, "__iter__"):
        _refuse(name, "a list of texts", values)
    return [text(f"{name}[{k}]", value) for k, value in enumerate(values)]


def path(name, value):
    """As a text; of bytes as the system reads them."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        _refuse(name, "a path (a text or a pathlib.Path)", value)
    return os.fsdecode(value)


def function(name, value):
    """Something to call, or None."""
    if value is not None and not callable(value):
        _refuse(name, "a function", value)
    return value


def mapping(name, value):
    if not hasattr(value, "keys"):
        _refuse(name, "a dict", value)
    return {text(f"a key of {name}", key): value[key] for key in value.keys()}


def finite(name, value):
    value = number(name, value, optional=False)
    if not math.isfinite(value):
        raise InputError(f"{name} = {value}: it must be finite")
    return value


def library(name, what):
    """A module that only some calls need."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        first = name.split(".")[0]
        if error.name != first:
            raise
        raise ModuleNotFoundError(f"{what} need {first}: apt install python3-{first}, or pip install {first}", name=first) from None
