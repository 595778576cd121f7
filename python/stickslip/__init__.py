# SPDX-License-Identifier: Apache-2.0
"""Dry friction and unilateral contact without smoothing the law away.

    import stickslip
    case = stickslip.load("brake.toml")
    case["k"] = 3.0                          # any number of the model, live
    result = case.run(scheme="event")
    result.position[-1], result.events[0]
    result.plot()

Names are those of the model file; units are SI (m, kg, s, N, rad).
"""

from typing import NamedTuple, Optional

from ._core import MODES, Case, InputError, Result, __version__, _parse, _read, _toml_value
from .plotting import plot

__all__ = ["AuditItem", "Case", "Event", "InputError", "MODES", "Result", "RunError", "load", "parse", "__version__"]


class Event(NamedTuple):
    """A law changes its mode, or bodies collide."""

    t: float  #: time [s]
    law: str
    kind: str  #: stick, slip, reversal, impact, ...
    before: str  #: mode of the law before it
    after: str
    impulse: float  #: of an impact [N s], else 0


class AuditItem(NamedTuple):
    """One measurement of the audit; `limit` is None where nothing is guaranteed."""

    name: str
    value: float
    limit: Optional[float]
    ok: bool
    unit: str
    meaning: str


class RunError(RuntimeError):
    """A run did not end with success; `result` holds all it has computed."""

    def __init__(self, result):
        super().__init__(f"{result.status}: {result.message}" if result.message else result.status)
        self.result = result


def _settings(changes):
    if not changes:
        return []
    if isinstance(changes, dict):
        return [f"{key}={_toml_value(value)}" for key, value in changes.items()]
    return [changes] if isinstance(changes, str) else list(changes)


def load(path, set=None):
    """The case of a model file. `set`: changes as a dict {"run.step": 1e-3}, or texts "run.step=1e-3" as for --set."""
    return _read(str(path), _settings(set))


def parse(text, path="model.toml", set=None):
    """The case of a model given as text. `path` is its name in messages, and says where files that it names are."""
    return _parse(text, str(path), _settings(set))


def _case_set(self, *changes, **parameters):
    """Sets several numbers at once, so that what is in between need not be possible: case.set({"run.step": 1e-3}, k=3)."""
    values = {}
    for change in changes:
        values.update(change)
    values.update(parameters)
    self._set(values)
    return self


def _case_setitem(self, name, value):
    self._set({name: value})


def _case_run(self, watch=None, check=False, **options):
    """Runs the case and gives a Result.

    options: keys of [run] for this run alone: scheme="event", end_time=2, step=1e-3, output_step=0.01.
    watch:   called as watch(t, position, velocity) after each step; False stops the run.
    check:   True raises RunError where the run does not end with success.
    Ctrl-C stops it with KeyboardInterrupt; other threads go on meanwhile.
    """
    case = self
    if options:
        case = self.copy()
        case._set({f"run.{key}": value for key, value in options.items()})
    result = case._run(watch)
    if check and not result.ok:
        raise RunError(result)
    return result


def _case_repr(self):
    name = self.title or self.path
    parameters = ", ".join(f"{key}={value:g}" for key, value in self.parameters.items())
    return f"<stickslip.Case {name!r}: {len(self.coordinates)} coordinates, {len(self.laws)} laws" + (
        f"; {parameters}>" if parameters else ">")


def _result_repr(self):
    return f"<stickslip.Result {self.status}: {self.scheme}, {len(self.t)} rows to t = {self.final_time:g} s, {len(self.events)} events>"


def _result_html(self):
    rows = "".join(
        f"<tr><td>{item.name}</td><td>{item.value:.3g} {item.unit}</td><td>{'' if item.limit is None else f'{item.limit:.2g}'}</td>"
        f"<td>{item.meaning}</td></tr>" for item in self.audit)
    return (f"<b>{self.status}</b>: {self.scheme}, {len(self.t)} rows to t = {self.final_time:g} s, {len(self.events)} events"
            f"<table><tr><th>audit</th><th>value</th><th>limit</th><th></th></tr>{rows}</table>")


def _events_table(self):
    """The events as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame(self.events, columns=Event._fields)


def _column(self, name):
    """The column of that name over the times: a coordinate, a velocity ("v_x") or a reaction ("r_shoe")."""
    for names, table, prefix in ((self.coordinates, self.position, ""), (self.velocities, self.velocity, ""),
                                 (self.reactions, self.reaction, "r_")):
        known = [prefix + each for each in names]
        if name in known:
            return table[:, known.index(name)]
    columns = ", ".join([*self.coordinates, *self.velocities, *("r_" + each for each in self.reactions)])
    raise KeyError(f"there is no column {name!r}; known are {columns}")


Case.set = _case_set
Case.__setitem__ = _case_setitem
Case.run = _case_run
Case.__repr__ = _case_repr
Result.__repr__ = _result_repr
Result._repr_html_ = _result_html
Result.events_table = _events_table
Result.__getitem__ = _column
Result.plot = plot
