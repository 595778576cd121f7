# SPDX-License-Identifier: Apache-2.0
"""What the analyses of a case find: the program's --json as attributes, numbers as arrays, pictures and the page."""
import html
import json
import pathlib
import tempfile
import webbrowser

import numpy

from . import _core, arguments
from . import plotting


class AnalysisError(RuntimeError):
    """An analysis did not end with success; `result` holds all it has found."""

    def __init__(self, result):
        super().__init__(f"{result.status}: {result.message}" if result.message else result.status)
        self.result = result


def save_page(page, path):
    """Writes the interactive page."""
    pathlib.Path(path).write_text(page, encoding="utf-8")


def open_page(page, name):
    """The page in a browser, from a file in the folder for temporary ones; gives its path."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-")) / f"{name}.html"
    save_page(page, path)
    webbrowser.open(path.as_uri())
    return str(path)


class Analysis:
    """What an analysis found. Every key of the program's --json is an attribute; `data` is the whole of it."""

    def __init__(self, findings):
        self._findings = findings
        self.data = json.loads(findings.json)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; there are {', '.join(self.data)}") from None

    def __dir__(self):
        return sorted({*super().__dir__(), *self.data})

    def __getitem__(self, key):
        return self.data[key]

    @property
    def ok(self):
        """It ended with success."""
        return self.data["status"] == "success"

    def save(self, path):
        """Writes the report, an interactive page, to `path`."""
        save_page(self._findings.html(), path)

    def show(self):
        """Opens the report in the browser; gives the path of the file."""
        return open_page(self._findings.html(), type(self).__name__.lower())

    def _facts(self):
        return {}

    def __repr__(self):
        facts = "".join(f", {key} {_short(value)}" for key, value in self._facts().items())
        return f"<stickslip.{type(self).__name__} {self.data['status']}{facts}>"

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{html.escape(str(key))}</td><td>{html.escape(_short(value))}</td></tr>"
                       for key, value in self._facts().items())
        message = self.data.get("message") or ""
        return f"<b>{html.escape(type(self).__name__)}: {html.escape(self.data['status'])}</b> {html.escape(message)}<table>{rows}</table>"


def _short(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_short(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_short(each) for each in value)
    return str(value)


def _frame(rows):
    pandas = arguments.library("pandas", "tables")

    return pandas.DataFrame(rows)


class Check(Analysis):
    """What was understood of a model, without a run: coordinates, degrees_of_freedom, laws, notes, ..."""

    def _facts(self):
        return {"degrees of freedom": self.degrees_of_freedom, "matrices": self.matrices,
                "laws": [f"{law['name']}: {law['description']}" for law in self.laws], "notes": self.notes}

    def show(self):
        raise TypeError("a check has no report; print it, or look at its attributes")

    save = show


class Comparison(Analysis):
    """Schemes against a reference: `runs`, `orders`, `reference`; errors in m or rad, times in s."""

    def table(self):
        """One row per run, as a pandas DataFrame."""
        return _frame(self.data["runs"])

    def plot(self):
        """Errors over the step, or over the tolerance."""
        return plotting.plot_comparison(self)

    def _facts(self):
        if "exponents" in self.data:
            return {"epsilons": [run["epsilon"] for run in self.runs], "exponents": self.exponents}
        return {"reference": self.reference["scheme"],
                **{f"order of {o['scheme']}": o["position"] if o["position"] is not None else o["position_reason"]
                   for o in self.orders}}


class Orbit:
    """A periodic motion over one period: t [s], position, velocity, reaction, mode, events as of a Result."""

    _names = ("t", "position", "velocity", "reaction", "mode", "events", "coordinates", "velocities", "laws", "reactions")

    def __init__(self, rows):
        self._rows = rows

    def __getattr__(self, name):
        if name in Orbit._names:
            return getattr(self._rows, name)
        raise AttributeError(f"an orbit has no {name!r}; there are {', '.join(Orbit._names)}")

    def __getitem__(self, name):
        return self._rows[name]

    def plot(self, columns=None, show=False):
        """Positions, velocities and reactions over the period."""
        return self._rows.plot(columns, show)

    def events_table(self):
        """The events as a pandas DataFrame."""
        return self._rows.events_table()

    def __repr__(self):
        return f"<stickslip.Orbit {len(self.t)} rows over {self.t[-1] - self.t[0]:g} s>"


class Branch:
    """Periodic motions over a parameter, as arrays: value, period [s], amplitude, minimum, maximum (points x coordinates),
    stick_fraction (points x laws), stable, residual, branch, multipliers (a list of complex arrays)."""

    def __init__(self, data, tables, coordinates):
        self.parameter = data["parameter"]
        self.folds = data["folds"]
        self.bifurcations = data["bifurcations"]
        self.coordinates = coordinates
        self.stable = tables.pop("stable")
        self.branch = numpy.array(tables.pop("branch"), dtype=int)
        self.__dict__.update(tables)

    def __len__(self):
        return len(self.value)

    def table(self):
        """One row per point, as a pandas DataFrame."""
        columns = {self.parameter: self.value, "period": self.period, "stable": self.stable, "residual": self.residual,
                   "branch": self.branch}
        for k, name in enumerate(self.coordinates):
            columns[f"amplitude_{name}"] = self.amplitude[:, k]
        return _frame(columns)

    def plot(self):
        """Amplitudes over the parameter, unstable parts dashed."""
        return plotting.plot_branch(self)

    def __repr__(self):
        return f"<stickslip.Branch in {self.parameter}: {len(self)} points, {len(self.bifurcations)} bifurcations>"


class Periodic(Analysis):
    """A periodic motion: `orbit`, `period` [s], `multipliers`, `stable`, `certificates`, and `branch` with continue_."""

    def __init__(self, findings, coordinates):
        super().__init__(findings)
        self.orbit = Orbit(findings.motion) if findings.motion else None
        tables = dict(findings.tables)
        self.branch = Branch(self.data["branch"], dict(tables["branch"]), coordinates) if "branch" in tables else None

    @property
    def multipliers(self):
        """Floquet multipliers."""
        return numpy.array([complex(re, im) for re, im in self.data["multipliers"] if re is not None and im is not None])

    def plot(self, columns=None, show=False):
        """The branch, or else the orbit."""
        return self.branch.plot() if self.branch else self.orbit.plot(columns, show)

    def _facts(self):
        facts = {"period": self.period, "stable": self.stable, "residual": self.residual}
        if self.data["amplitude"]:
            facts["amplitude"] = dict(zip(self.coordinates, self.amplitude))
        if self.branch:
            facts["branch"] = repr(self.branch)
        return facts


class _Search(Analysis):
    """What is common to shoot and fit: `unknowns` and the motion with their values."""

    def __init__(self, findings):
        super().__init__(findings)
        self.motion = findings.motion  #: a Result; None where there is none

    def plot(self, columns=None, show=False):
        """The motion that was found."""
        if self.motion is None:
            raise AnalysisError(self)
        return self.motion.plot(columns, show)

    def history_table(self):
        """The iterations as a pandas DataFrame."""
        return _frame([{**{key: value for key, value in step.items() if key != "unknowns"}, **step["unknowns"]}
                       for step in self.history])


class Shoot(_Search):
    """Unknowns that meet conditions: `unknowns`, `residual`, `conditions`, `motion`."""

    @property
    def sensitivity(self):
        """Derivatives of the conditions by the unknowns."""
        return numpy.array(self.data["sensitivity"], dtype=float)

    def _facts(self):
        return {"unknowns": self.unknowns, "residual": self.residual, "iterations": self.iterations}


class Fit(_Search):
    """Numbers from measurements: `unknowns`, `standard_errors`, `rms`, `motion`."""

    @property
    def correlation(self):
        """Of the errors of the unknowns."""
        return numpy.array(self.data["correlation"], dtype=float)

    def _facts(self):
        return {"unknowns": self.unknowns, "standard errors": self.standard_errors, "rms": self.rms}


class Solve(Analysis):
    """Friction-contact problems: `problems`, one per file and solver, and `reactions` {file: r}, normal first."""

    @property
    def reactions(self):
        return dict(self._findings.tables)

    def table(self):
        """One row per file and solver, as a pandas DataFrame."""
        return _frame(self.data["problems"])

    def _facts(self):
        return {"solved": f"{self.solved} of {self.files}"}


class Sweep(Analysis):
    """Many runs: `swept` (runs x numbers that were swept), `outputs` (runs x numbers that were kept; NaN: none), `statuses`,
    `messages`; `sweep["final.position.x"]` is one column."""

    def __init__(self, findings):
        super().__init__(findings)
        tables = findings.tables
        self.swept, self.swept_names = tables["swept"], tables["swept_names"]
        self.outputs, self.output_names = tables["outputs"], tables["output_names"]
        self.statuses, self.messages = tables["statuses"], tables["messages"]
        self.blocks = tables["blocks"]  #: of each run {name: (columns, table)}, with everything=True

    def __len__(self):
        return len(self.statuses)

    def __getitem__(self, name):
        """A column by its name."""
        for names, table in ((self.swept_names, self.swept), (self.output_names, self.outputs)):
            if name in names:
                return table[:, names.index(name)]
        if name in self.data:
            return self.data[name]
        raise KeyError(f"there is no {name!r}; there are {', '.join([*self.swept_names, *self.output_names])}")

    def table(self):
        """One row per run, as a pandas DataFrame."""
        columns = {name: self[name] for name in self.swept_names}
        columns.update(status=self.statuses, message=self.messages)
        columns.update({name: self[name] for name in self.output_names})
        return _frame(columns)

    def plot(self, output=None):
        """One kept number, the first by default, over one swept number, or over two as a map."""
        return plotting.plot_sweep(self, output or self.output_names[0])

    def _facts(self):
        return {"over": self.swept_names, "runs": self.data["runs"], "succeeded": self.data["succeeded"], "failed": self.data["failed"]}


class Bifurcation(Analysis):
    """What a motion settles on over a number: `up` and `down`, each (values, points)."""

    def __init__(self, findings):
        super().__init__(findings)
        self.up, self.down = findings.tables["up"], findings.tables["down"]

    def table(self):
        """direction, value and point as a pandas DataFrame."""
        columns = {"direction": ["up"] * len(self.up[0]) + ["down"] * len(self.down[0])}
        columns[self.parameter] = numpy.concatenate([self.up[0], self.down[0]])
        columns[self.observed] = numpy.concatenate([self.up[1], self.down[1]])
        return _frame(columns)

    def plot(self):
        """The points over the number, upward and downward."""
        return plotting.plot_bifurcation(self)

    def _facts(self):
        return {"over": self.parameter, "values": self.values, "points": self.points}


def checked(analysis, check):
    if check and not analysis.ok:
        raise AnalysisError(analysis)
    return analysis


def solve(files, solver="default", tolerance=1e-8, max_seconds=60.0, start="zero", compare=None, check=False):
    """Solves friction-contact problems in FCLIB files (HDF5): a file, a folder, or a list of them.

    solver:      as in `stickslip list solvers`; compare: several, in place of it.
    tolerance:   on unit_free, an error that is the same in every system of units.
    max_seconds: for each solver and file [s].
    start:       "zero", "guess" or "solution", the latter two as the file holds them.
    """
    if isinstance(files, (str, bytes, pathlib.PurePath)) or not hasattr(files, "__iter__"):
        files = [files]
    names = [arguments.path("files", name) for name in files]
    solvers = [arguments.text("solver", solver)] if compare is None else arguments.texts("compare", compare)
    return checked(Solve(_core._solve(names, solvers, arguments.text("start", start), arguments.number("tolerance", tolerance, False),
                                      arguments.number("max_seconds", max_seconds, False))), check)
