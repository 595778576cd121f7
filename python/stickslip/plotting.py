# SPDX-License-Identifier: Apache-2.0
"""Pictures of a result with matplotlib."""


def plot(self, columns=None, show=False):
    """Positions, velocities and reactions over time, one panel each, stick shaded; returns the figure.

    columns: names of those to draw (default: the first eight of each kind).
    show:    True opens a window.
    """
    import matplotlib

    if not show:
        matplotlib.use("Agg")
    from matplotlib import pyplot

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
    figure, axes = pyplot.subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(8, 2.2 * len(panels)), layout="constrained")
    for axis, (label, lines) in zip(axes[:, 0], panels):
        for name, values in lines:
            axis.plot(self.t, values, label=name, linewidth=1.2)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.legend(loc="upper right", fontsize="small")
    shade_stick(self, axes[:, 0])
    axes[-1, 0].set_xlabel("time [s]")
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
