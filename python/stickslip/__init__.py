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

import pickle as _pickle
from typing import NamedTuple, Optional

from . import _core, arguments
from ._core import MODES, Case, InputError, Result, Simulation, __version__
from .analyses import (Analysis, AnalysisError, Bifurcation, Branch, Check, Comparison, Fit, Orbit, Periodic, Shoot, Solve, Sweep,
                       checked, open_page, save_page, solve)
from .models import Model, model, settings_of
from .plotting import plot

__all__ = ["Analysis", "AnalysisError", "AuditItem", "Bifurcation", "Branch", "Case", "Check", "Comparison", "Event", "Fit", "InputError", "MODES",
           "Model", "Orbit", "Periodic", "Result", "RunError", "Shoot", "Simulation", "Solve", "Sweep", "load", "model", "parse", "solve",
           "__version__"]


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


def load(path, set=None):
    """The case of a model file. `set`: changes as a dict {"run.step": 1e-3}, or texts "run.step=1e-3" as for --set."""
    return _core._read(arguments.path("path", path), settings_of(set))


def parse(text, path="model.toml", set=None):
    """The case of a model given as text. `path` is its name in messages, and says where files that it names are."""
    return _core._parse(arguments.text("text", text), arguments.path("path", path), settings_of(set), [], {})


def _case_set(self, *changes, **parameters):
    """Sets several numbers at once, so that what is in between need not be possible: case.set({"run.step": 1e-3}, k=3)."""
    values = {}
    for change in changes:
        values.update(arguments.mapping("set()", change))
    values.update(parameters)
    self._set(values)
    return self


def _case_setitem(self, name, value):
    self._set({name: value})


def _with(case, table, options):
    """The case with other keys of one table, for one analysis alone."""
    return case._varied(table, options) if options else case


def _case_run(self, watch=None, check=False, controller=None, period=None, **options):
    """Runs the case and gives a Result.

    options:    keys of [run] for this run alone: scheme="event", end_time=2, step=1e-3, output_step=0.01.
    watch:      called as watch(t, position, velocity) after each step; False stops the run.
    controller: called as controller(t, position, velocity) every `period` [s] (default: every step); gives the values of
                [inputs], held until the next call: a number, a list, an array or a dict.
    check:      True raises RunError where the run does not end with success.
    Ctrl-C stops it with KeyboardInterrupt; other threads go on meanwhile.
    """
    if controller is None and period is not None:
        raise TypeError("period is the time between two calls of a controller; output_step says how often rows are kept")
    arguments.function("watch", watch)
    if arguments.function("controller", controller) is None:
        result = _with(self, "run", options)._run(watch)
    else:
        simulation = self.simulation(period=period, **options)
        going = True
        while going:
            position, velocity = simulation.position, simulation.velocity
            given = controller(simulation.t, position, velocity)
            if given is None:
                raise TypeError(f"the controller gave None at t = {simulation.t:.9g} s: return the values of the inputs, "
                                f"{', '.join(simulation.inputs)} (a number, a list or a dict; {{}} leaves them as they are)")
            going = simulation.step(given)
            if watch is not None and watch(simulation.t, simulation.position, simulation.velocity) is False:
                break
        result = simulation.result()
    if check and not result.ok:
        raise RunError(result)
    return result


def _case_simulation(self, period=None, keep=True, **options):
    """The run step by step: a Simulation, with `step(u)`, `t`, `position`, `velocity`, `done`, `reset()` and `result()`.

    period:  time between two settings of the inputs [s]; default: the step of the run.
    keep:    False keeps no rows, for long runs that only look at the state.
    options: keys of [run] for it alone.
    """
    return Simulation(_with(self, "run", options), arguments.number("period", period), bool(keep))


def _case_check(self):
    """What was understood of the model, without a run."""
    return Check(_core._check(self))


def _case_compare(self, schemes=None, steps=None, epsilons=None, check=False, **options):
    """Compares schemes with a reference over steps: errors, observed orders, cost.

    schemes:  names; default: those of splitting, moreau and event that take the system.
    steps:    [s]; default: 4, 2, 1 and 1/2 times that of the run.
    epsilons: in place of the two: spring-dampers against the constraints that they stand for.
    options:  keys of [run] for it alone.
    """
    case = _with(self, "run", options)
    if epsilons is not None:
        return checked(Comparison(_core._compare_epsilons(case, arguments.numbers("epsilons", epsilons))), check)
    names = schemes.split(",") if isinstance(schemes, str) else arguments.texts("schemes", [] if schemes is None else schemes)
    return checked(Comparison(_core._compare(case, names, arguments.numbers("steps", steps) or [])), check)


def _continuation(given):
    """A dict, ("omega", 0.5, 2.0[, step]) or "omega=0.5:2.0[:step]"."""
    if isinstance(given, str):
        name, _, ends = given.partition("=")
        try:
            given = (name, *(float(end) for end in ends.split(":")))
        except ValueError:
            raise InputError(f"continue_ = {given!r}: write PARAM=FROM:TO, as omega=0.5:2") from None
    if isinstance(given, (tuple, list)):
        if len(given) not in (3, 4):
            raise InputError(f"continue_ = {given!r}: give (parameter, from, to) or (parameter, from, to, step)")
        given = dict(zip(("parameter", "from", "to", "step"), given))
    given = arguments.mapping("continue_", given)
    return {key.rstrip("_"): value for key, value in given.items()}


def _case_periodic(self, continue_=None, further=0, check=False, **options):
    """A periodic motion, or a branch of them.

    continue_: the parameter to follow it over: ("omega", 0.5, 2.0), "omega=0.5:2" or the table of [periodic] continue.
    further:   so many branches are looked for beside the first.
    options:   keys of [periodic] for it alone: method="event", harmonics=15, period="2*pi/omega".
    """
    if continue_ is not None:
        options["continue"] = _continuation(continue_)
    case = _with(self, "periodic", options)
    return checked(Periodic(_core._periodic(case, arguments.whole("further", further, 0)), self.coordinates), check)


def _case_shoot(self, check=False, **options):
    """Finds unknowns (numbers of the case) with which conditions hold. options: keys of [shoot] for it alone."""
    return checked(Shoot(_core._shoot(_with(self, "shoot", options))), check)


def _case_fit(self, data=None, check=False, **options):
    """Finds numbers of the case from measurements.

    data:    a CSV file, or columns {"t": .., "x": ..} as a dict or DataFrame; default: the file that [fit] names.
    options: keys of [fit] for it alone.
    """
    path, text = "", ""
    if data is not None and hasattr(data, "keys"):
        columns = {str(key): arguments.numbers(f"data[{key!r}]", data[key]) for key in data.keys()}
        lengths = {key: len(values) for key, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns of the data have different lengths: {lengths}")
        rows = zip(*columns.values())
        cell = lambda x: "" if x != x else repr(x)  # not measured
        text = "\n".join([",".join(columns), *(",".join(map(cell, row)) for row in rows)]) + "\n"
    elif data is not None:
        path = arguments.path("data", data)
    return checked(Fit(_core._fit(_with(self, "fit", options), path, text)), check)


def _case_sweep(self, over=None, threads=0, progress=None, check=False, out=None, fresh=False, **options):
    """Many runs, or other analyses, of the case at once, on threads: what `stickslip sweep` does.

    over:     {number: values}: {"k": [1, 2, 3], "friction.shoe.limit": {"from": 0.1, "to": 1, "count": 10}}; default: [sweep].
    threads:  0: one per processor.
    progress: called as progress(done, runs) some times a second.
    out:      a folder for what the program writes (sweep.csv, sweep.h5, summary.json, report.html). Runs are stored there as they end:
              after Ctrl-C, a kill or a crash the same call goes on where it was. Without it everything stays in memory.
    fresh:    True drops what an unfinished sweep left in the folder. (Models with functions of Python always begin anew.)
    options:  other keys of [sweep]: kind="latin", count=100, seed=1, analysis="periodic", keep=["final.position", "events"].
    Sweeps on several machines are for the program, under mpirun.
    """
    if over is not None:
        options["over"] = {key: value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, range) else value
                           for key, value in arguments.mapping("over", over).items()}
    folder = None if out is None else arguments.path("out", out)
    findings = _core._sweep(_with(self, "sweep", options), arguments.whole("threads", threads, 0),
                            arguments.function("progress", progress), folder, bool(fresh))
    return checked(Sweep(findings), check)


def _case_bifurcation(self, over, observe="", transient=50, record=50, peaks=False, progress=None, check=False):
    """What the motion settles on over a number, followed up and down: what `stickslip bifurcation` does, in memory.

    over:      (number, from, to, count), or the text "omega=0.5:2:200".
    observe:   a coordinate, or v_<coordinate>; default: the first coordinate.
    transient: periods of [periodic] before points are taken; without it parts of the run.
    record:    periods, or parts, in which they are.
    peaks:     True: peaks, where [periodic] has a period as well (default: one point per period).
    """
    import os
    import tempfile

    if isinstance(over, str):
        name, _, ends = over.partition("=")
        over = (name, *ends.split(":"))
        try:
            over = (name, float(over[1]), float(over[2]), int(over[3]))
        except (IndexError, ValueError):
            raise InputError(f"over: write KEY=FROM:TO:COUNT, as omega=0.5:2:200, or ({name!r}, from, to, count)") from None
    if not isinstance(over, (tuple, list)) or len(over) != 4:
        raise InputError(f"over = {over!r}: give (number, from, to, count), as (\"omega\", 0.5, 2, 200)")
    key, start, stop, count = over
    with tempfile.TemporaryDirectory(prefix="stickslip-") as folder:
        findings = _core._bifurcation(
            self, os.path.join(folder, "sweep.journal"), arguments.text("over[0]", key), arguments.finite("over[1]", start),
            arguments.finite("over[2]", stop), arguments.whole("over[3]", count, 2), arguments.text("observe", observe),
            arguments.whole("transient", transient, 0), arguments.whole("record", record, 1), bool(peaks),
            arguments.function("progress", progress))
    return checked(Bifurcation(findings), check)


def _case_save(self, path):
    """Writes the model as a file that the program reads, beside it the files that it names; `set` values are not in it."""
    import pathlib

    functions = self._state()[4]
    if functions:
        raise InputError(f"{self.path}: functions of Python cannot be written to a file: {', '.join(functions)}")
    path = pathlib.Path(path)
    path.write_text(self.text, encoding="utf-8")
    here = pathlib.Path(self.path).parent
    for name, content in self.files:
        target = path.parent / pathlib.Path(name).relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")


def _case_reduce(self):
    state = self._state()
    for name, function in state[4].items():
        try:
            _pickle.dumps(function)
        except Exception as error:
            raise _pickle.PicklingError(f"{self.path}: the function {name} of the case cannot be pickled ({error}); "
                                        "define it with def at the top of a module, or use an expression") from error
    return _restore_case, (state,)


def _restore_case(state):
    return _core._restore(state)


def _case_repr(self):
    name = self.title or self.path
    parameters = ", ".join(f"{key}={value:g}" for key, value in self.parameters.items())
    return f"<stickslip.Case {name!r}: {len(self.coordinates)} coordinates, {len(self.laws)} laws" + (
        f"; {parameters}>" if parameters else ">")


def _case_html(self):
    import html

    rows = "".join(f"<tr><td>{html.escape(key)}</td><td>{value:g}</td></tr>" for key, value in self.parameters.items())
    return (f"<b>{html.escape(self.title or self.path)}</b><br>coordinates: {html.escape(', '.join(self.coordinates[:12]))}"
            f"<br>laws: {html.escape(', '.join(self.laws[:12]))}<br>scheme: {self.scheme}<table>{rows}</table>")


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
    pandas = arguments.library("pandas", "tables")

    return pandas.DataFrame(self.events, columns=Event._fields)


def _table(self):
    """Time, positions, velocities and reactions as a pandas DataFrame with the columns of trajectory.csv."""
    pandas = arguments.library("pandas", "tables")

    columns = {"t": self.t}
    for names, table in ((self.coordinates, self.position), (self.velocities, self.velocity),
                         (["r_" + name for name in self.reactions], self.reaction)):
        columns.update({name: table[:, k] for k, name in enumerate(names)})
    return pandas.DataFrame(columns)


def _column(self, name):
    """The column of that name over the times: "t", a coordinate, a velocity ("v_x") or a reaction ("r_shoe")."""
    if name == "t":
        return self.t
    for names, table, prefix in ((self.coordinates, self.position, ""), (self.velocities, self.velocity, ""),
                                 (self.reactions, self.reaction, "r_")):
        known = [prefix + each for each in names]
        if name in known:
            return table[:, known.index(name)]
    columns = ", ".join(["t", *self.coordinates, *self.velocities, *("r_" + each for each in self.reactions)])
    raise KeyError(f"there is no column {name!r}; known are {columns}")


def _result_summary(self):
    """What the program writes to summary.json, as a dict."""
    import json

    return json.loads(self._json())


def _result_save(self, path):
    """Writes the report, an interactive page, to `path`."""
    save_page(self._html(), path)


def _result_show(self):
    """Opens the report in the browser; gives the path of the file."""
    return open_page(self._html(), "run")


def _simulation_reset(self, position=None, velocity=None):
    """Back to the start, or to other positions [m, rad] and velocities [m/s, rad/s]; inputs as the model says."""
    self._reset(arguments.numbers("position", position), arguments.numbers("velocity", velocity))
    return self


def _simulation_repr(self):
    inputs = ", ".join(f"{key}={value:g}" for key, value in self.inputs.items())
    return f"<stickslip.Simulation t = {self.t:g} s, period {self.period:g} s" + (f"; {inputs}" if inputs else "") + (
        "; done>" if self.done else ">")


Case.set = _case_set
Case.__setitem__ = _case_setitem
Case.run = _case_run
Case.simulation = _case_simulation
Case.check = _case_check
Case.compare = _case_compare
Case.periodic = _case_periodic
Case.shoot = _case_shoot
Case.fit = _case_fit
Case.sweep = _case_sweep
Case.bifurcation = _case_bifurcation
Case.save = _case_save
Case.__reduce__ = _case_reduce
Case.__repr__ = _case_repr
Case._repr_html_ = _case_html
Result.__repr__ = _result_repr
Result._repr_html_ = _result_html
Result.events_table = _events_table
Result.table = _table
Result.summary = _result_summary
Result.save = _result_save
Result.show = _result_show
Result.__getitem__ = _column
Result.plot = plot
Simulation.reset = _simulation_reset
Simulation.__repr__ = _simulation_repr
