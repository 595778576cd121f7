# SPDX-License-Identifier: Apache-2.0
"""Pictures of a result with matplotlib."""
from .arguments import library



def _figure(rows, size, show=False):
    """A figure and its axes, rows x 1. Without a window nothing of matplotlib's state changes; notebooks draw it as a picture."""
    if show:
        pyplot = library("matplotlib.pyplot", "pictures")

        return pyplot.subplots(rows, 1, sharex=True, squeeze=False, figsize=size, layout="constrained")
    Figure = library("matplotlib.figure", "pictures").Figure

    class Picture(Figure):
        def _repr_png_(self):
            import io

            stream = io.BytesIO()
            self.savefig(stream, format="png")
            return stream.getvalue()

    figure = Picture(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=True, squeeze=False)


def _one_axis():
    figure, axes = _figure(1, (7, 4))
    return figure, axes[0, 0]


def plot(self, columns=None, show=False):
    """Positions, velocities and reactions over time, one panel each, stick shaded; returns the figure.

    columns: names of those to draw (default: the first eight of each kind).
    show:    True opens a window.
    """
    most = 8  # more lines in a panel cannot be told apart
    kinds = [("position [m, rad]", self.coordinates, self.position), ("velocity [m/s, rad/s]", self.velocities, self.velocity),
             ("reaction [N, N m]", ["r_" + name for name in self.reactions], self.reaction)]
    panels = []
    for label, names, table in kinds:
        chosen = [k for k, name in enumerate(names) if columns is None or name in columns]
        if columns is None:
            chosen = chosen[:most]
        if chosen:
            panels.append((label, [(names[k], table[:, k]) for k in chosen]))
    if columns is not None:
        for name in columns:
            self[name]  # a wrong name is said
    figure, axes = _figure(len(panels), (8, 2.2 * len(panels)), show)
    for axis, (label, lines) in zip(axes[:, 0], panels):
        for name, values in lines:
            axis.plot(self.t, values, label=name, linewidth=1.2)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.legend(loc="best", fontsize="small")
    shade_stick(self, axes[:, 0])
    axes[-1, 0].set_xlabel("time [s]")
    if show:
        pyplot = library("matplotlib.pyplot", "pictures")

        pyplot.show()
    return figure


def shade_stick(result, axes):
    """Where every law sticks."""
    from . import MODES

    if result.mode.shape[1] == 0:
        return
    stuck = (result.mode == MODES.index("stick")).all(axis=1)
    for axis in axes:
        axis.fill_between(result.t, 0, 1, where=stuck, transform=axis.get_xaxis_transform(), step="pre", alpha=0.12, color="gray",
                          linewidth=0)


def plot_branch(branch):
    """Amplitudes over the parameter; unstable parts are dashed, bifurcations marked."""
    import numpy

    figure, axis = _one_axis()
    unstable = numpy.array([stable is False for stable in branch.stable])
    for k, name in enumerate(branch.coordinates[:8]):
        for number in numpy.unique(branch.branch):
            chosen = branch.branch == number
            x, y, bad = branch.value[chosen], branch.amplitude[chosen, k], unstable[chosen]
            near = bad.copy()  # a piece is unstable where one of its ends is
            near[1:] |= bad[:-1]
            near[:-1] |= bad[1:]
            axis.plot(x, numpy.where(bad, numpy.nan, y), color=f"C{k}", label=name if number == 0 else None)
            axis.plot(x, numpy.where(near, y, numpy.nan), color=f"C{k}", linestyle="--")
    for bifurcation in branch.bifurcations:
        axis.axvline(bifurcation["value"], color="gray", linewidth=0.8, alpha=0.6)
        axis.annotate(bifurcation["kind"].replace("_", " "), (bifurcation["value"], 1), xycoords=("data", "axes fraction"),
                      rotation=90, va="top", ha="right", fontsize="x-small", color="gray")
    axis.set_xlabel(branch.parameter)
    axis.set_ylabel("amplitude [m, rad]")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    return figure


def plot_bifurcation(diagram):
    """Points over the number, upward and downward."""
    figure, axis = _one_axis()
    for k, direction in enumerate(("up", "down")):
        values, points = getattr(diagram, direction)
        axis.plot(values, points, ".", markersize=3 - k, label=direction)
    axis.set_xlabel(diagram.parameter)
    axis.set_ylabel(diagram.observed)
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    return figure


def plot_comparison(comparison):
    """Errors of positions over the step (dots) or the tolerance of each scheme."""
    figure, axis = _one_axis()
    if "exponents" in comparison.data:
        for name in comparison.runs[0]["errors"]:
            axis.plot([r["epsilon"] for r in comparison.runs], [r["errors"][name] for r in comparison.runs], "o-", label=name)
        axis.set_xlabel("epsilon")
    else:
        for scheme in dict.fromkeys(run["scheme"] for run in comparison.runs):
            points = [(run["step"] or run["tolerance"], run["position_error"]) for run in comparison.runs
                      if run["scheme"] == scheme and run["position_error"]]
            if points:
                axis.plot(*zip(*points), "o-", label=scheme)
        axis.set_xlabel("step [s], or tolerance of schemes that choose their own")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylabel("position error [m, rad]")
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize="small")
    return figure


def plot_sweep(sweep, output):
    """A kept number over one swept number (points), or over two (colours)."""
    figure, axis = _one_axis()
    values = sweep[output]
    axis.set_xlabel(sweep.swept_names[0])
    if len(sweep.swept_names) == 1:
        axis.plot(sweep.swept[:, 0], values, ".", markersize=4)
        axis.set_ylabel(output)
    else:
        points = axis.scatter(sweep.swept[:, 0], sweep.swept[:, 1], c=values, s=18)
        axis.set_ylabel(sweep.swept_names[1])
        figure.colorbar(points, label=output).formatter.set_useOffset(False)
    axis.grid(alpha=0.3)
    return figure
