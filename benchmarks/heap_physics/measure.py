#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Heaps as an experiment: angle of repose over friction, Janssen's silo, discharge over the width of an opening.

Each with several starts, from whose scatter the standard errors come. Runs that are already in --work are not repeated.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

import h5py
import matplotlib
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402
import models  # noqa: E402

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

FRICTION = (0.1, 0.2, 0.4)
FILLINGS = (32, 64, 96, 128)
WALLS = (0.5,)
WIDTHS = (7.0, 9.0, 11.0, 13.0)  # in radii
GRAINS = 847
DIAMETERS = 2.0  # radii in a diameter


class Laboratory:
    """Runs model texts with the program and keeps the results by name."""

    def __init__(self, program, work):
        self.program, self.work, self.seconds = program, work, {}

    def run(self, name, text):
        folder = self.work / name
        model = self.work / f"{name}.toml"
        done = folder / "summary.json"
        if not done.exists() or not model.exists() or model.read_text() != text:
            model.write_text(text)
            subprocess.run([str(self.program), "run", str(model), "--out", str(folder), "--threads", "1"], stdout=subprocess.DEVNULL)
            print(name, json.loads(done.read_text())["status"] if done.exists() else "no result", file=sys.stderr, flush=True)
        summary = json.loads(done.read_text())
        if summary["status"] != "success":
            raise RuntimeError(f"{name}: {summary['status']}: {summary.get('message', '')}")
        return h5py.File(folder / "result.h5", "r")


def mean_and_error(values):
    values = numpy.asarray(values, dtype=float)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def surface_angle(x):
    """Slope of a heap from the highest grains in rings and sectors around its axis; from a fifth of the plate's radius to nine
    tenths of it. Positions in radii. [°]"""
    radius, angle = numpy.hypot(x[:, 0], x[:, 1]), numpy.arctan2(x[:, 1], x[:, 0])
    rings, sectors, r, z = 8, 8, [], []
    edges = numpy.linspace(0.2, 0.9, rings + 1) * models.HEAP_RADIUS
    for k in range(rings):
        for s in range(sectors):
            inside = (radius >= edges[k]) & (radius < edges[k + 1]) & (numpy.floor((angle / math.pi + 1) / 2 * sectors) % sectors == s) & (x[:, 2] > 0)
            if inside.any():
                top = numpy.argmax(numpy.where(inside, x[:, 2], -math.inf))
                r.append(radius[top])
                z.append(x[top, 2])
            else:
                r.append(0.5 * (edges[k] + edges[k + 1]))
                z.append(-1.0)  # the plate's own grains
    slope = numpy.polyfit(r, z, 1)[0]
    return math.degrees(math.atan(-slope))


def repose(lab, seeds):
    rows = []
    for mu in FRICTION:
        angles, left, speeds = [], [], []
        for seed in seeds:
            with lab.run(f"heap-{mu}-{seed}", models.heap(mu, seed)) as f:
                q, v = f["position"][-1].reshape(-1, 7), f["velocity"][-1].reshape(-1, 6)
            on = q[:, 2] > 0
            angles.append(surface_angle(q[:, :3] / models.RADIUS))
            left.append(int(on.sum()))
            speeds.append(float(numpy.linalg.norm(v[on, :3], axis=1).max(initial=0)))
        mean, error = mean_and_error(angles)
        rows.append({"mu": mu, "angle": mean, "error": error, "angles": angles, "grains_left": left, "fastest_left": max(speeds)})
    return rows


def vertical_load(f, late):
    """What the support carries beyond the floor's own weight: mean and standard error over four blocks of time [N]"""
    names = [n.decode() for n in f["names/reactions"]]
    load = f["reaction"][:, names.index("support_n" if "support_n" in names else "r_support_n")] - models.FLOOR_MASS * models.GRAVITY
    load = load[f["t"][:] > late]
    return load.mean(), numpy.std([b.mean() for b in numpy.array_split(load, 4)], ddof=1) / 2


def wall_ratio(f, late):
    """K = mean of horizontal over mean of vertical stress, from the forces at the contacts: Σ f_i (x_contact - x_body)_i over all
    bodies is the volume times the stress. And the share of the walls' friction that is mobilised."""
    c, t = f["contact_forces"], f["t"][:]
    q = f["position"][:].reshape(len(t), -1, 7)[:, :, :3]
    end = f["contact_forces/end"][:]
    grains = q.shape[1] - 1  # the floor is the last body
    stress = numpy.zeros(3)
    normal = friction = 0.0
    for row in numpy.flatnonzero(t > late):
        part = slice(int(end[row - 1]), int(end[row]))
        first, second, x, force = (c[name][part] for name in ("first", "second", "position", "force"))
        for body, sign in ((first, 1), (second, -1)):
            inside = (body >= 0) & (body < grains)
            stress -= sign * (force[inside] * (x[inside] - q[row, body[inside]])).sum(axis=0)
        wall = (first >= 0) & (first < grains) & (second == -1)
        wall_swapped = (second >= 0) & (second < grains) & (first == -1)
        for chosen, sign in ((wall, 1), (wall_swapped, -1)):
            normal += numpy.abs(force[chosen][:, :2]).max(axis=1, initial=0).sum() if chosen.any() else 0
            friction += sign * force[chosen][:, 2].sum()
    return 0.5 * (stress[0] + stress[1]) / stress[2], friction / normal


def janssen(lab, seeds):
    late = 0.6
    area, perimeter = (2 * models.SILO_HALF * models.RADIUS) ** 2, 8 * models.SILO_HALF * models.RADIUS
    results = []
    for mu_wall in WALLS:
        rows = []
        for count in FILLINGS:
            loads, ratios, shares, heights = [], [], [], []
            for seed in seeds:
                with lab.run(f"silo-{mu_wall}-{count}-{seed}", models.silo(count, mu_wall, seed)) as f:
                    loads.append(vertical_load(f, late)[0])
                    ratio, share = wall_ratio(f, late)
                    ratios.append(ratio)
                    shares.append(share / mu_wall)
                    heights.append(f["position"][-1].reshape(-1, 7)[:-1, 2].max())
            load, error = mean_and_error(loads)
            rows.append({"count": count, "weight": count * models.MASS * models.GRAVITY, "load": load, "error": error, "K": mean_and_error(ratios),
                         "mobilised": mean_and_error(shares)})
        weight, load = (numpy.array([row[k] for row in rows]) for k in ("weight", "load"))
        error = numpy.array([row["error"] for row in rows])
        scale, scale_error = fit_saturation(weight, load, numpy.maximum(error, numpy.median(error)))
        deep = [row for row in rows if row["count"] >= 96]
        K, K_error = mean_and_error([row["K"][0] for row in deep])
        # Grains roll along the walls: their friction is a part of μ N.
        acting = mu_wall * mean_and_error([row["mobilised"][0] for row in deep])[0]
        density = density_in_shaft(lab, mu_wall, seeds, area)
        # σ(z) = ρ g λ (1 - exp(-z/λ)), λ = A/(μ K P), μ what acts: the load saturates at the weight of a column as high as λ.
        length = scale / (density * models.GRAVITY * area)
        results.append({"mu_wall": mu_wall, "rows": rows, "saturation": [scale, scale_error], "density": density, "lambda": length,
                        "mu_acting": acting,
                        "K_fitted": [area / (acting * perimeter * length), area / (acting * perimeter * length) * scale_error / scale],
                        "K_measured": [K, K_error],
                        "saturation_from_K": density * models.GRAVITY * area * area / (acting * K * perimeter)})
    return results


def density_in_shaft(lab, mu_wall, seeds, area):
    """Mass of the grains between two diameters over the floor and two under the top, per volume. [kg/m³]"""
    found = []
    for seed in seeds:
        with lab.run(f"silo-{mu_wall}-{FILLINGS[-1]}-{seed}", models.silo(FILLINGS[-1], mu_wall, seed)) as f:
            z = f["position"][-1].reshape(-1, 7)[:-1, 2]
        low, high = 4 * models.RADIUS, z.max() - 4 * models.RADIUS
        found.append(((z > low) & (z < high)).sum() * models.MASS / (area * (high - low)))
    return float(numpy.mean(found))


def fit_saturation(weight, load, error):
    """Of load = s (1 - exp(-weight/s)), by weighted least squares; the error is scaled by the scatter about the fit."""
    def chi(s):
        return (((load - s * (1 - numpy.exp(-weight / s))) / error) ** 2).sum()
    grid = numpy.geomspace(0.2 * load.max(), 50 * load.max(), 20000)
    values = numpy.array([chi(s) for s in grid])
    best = int(values.argmin())
    s, least = grid[best], values[best]
    step = 0.01 * s
    curvature = (chi(s + step) - 2 * least + chi(s - step)) / step**2
    return float(s), float(math.sqrt(2 / curvature * max(1.0, least / (len(load) - 1))))


def discharge(lab, seeds):
    rows = []
    for width in WIDTHS:
        rates = []
        for seed in seeds:
            end = 0.45 if width > 8 else 1.0
            with lab.run(f"opening-{width}-{seed}", models.opening(width, GRAINS, seed, end)) as f:
                t, z = f["t"][:], f["position"][:].reshape(len(f["t"]), -1, 7)[:, :, 2]
            out = (z < -models.RADIUS).sum(axis=1)
            # Steady: after the first have left and while more than half of the filling is in the bin.
            steady = (t > 0.2) & (out < 0.45 * GRAINS)
            # Four stretches of time: what they scatter by is the error of a single start.
            rates += [float(numpy.polyfit(t[part], out[part], 1)[0]) for part in numpy.array_split(numpy.flatnonzero(steady), 4)]
        mean, error = mean_and_error(rates)
        rows.append({"width": width / DIAMETERS, "rate": mean, "error": error, "rates": rates})
    width, rate = (numpy.array([row[k] for row in rows]) for k in ("width", "rate"))
    error = numpy.array([row["error"] for row in rows])
    return {"rows": rows, **fit_power(width, rate, error)}


def fit_power(width, rate, error):
    """rate = C (width - k)^n in diameters: k with n = 5/2 given, and n with k = 1.4 given; errors by the bootstrap of the rates."""
    def offset(y):
        slope, constant = numpy.polyfit(width, y ** 0.4, 1)
        return -constant / slope, slope**2.5
    def exponent(y, k):
        return numpy.polyfit(numpy.log(width - k), numpy.log(y), 1)[0]
    rng = numpy.random.default_rng(1)
    samples = [rate + error * rng.standard_normal(len(rate)) for _ in range(2000)]
    k, C = offset(rate)
    return {"k": [float(k), float(numpy.std([offset(s)[0] for s in samples]))], "C": [float(C), float(numpy.std([offset(s)[1] for s in samples]))],
            "exponent_k_1.4": [float(exponent(rate, 1.4)), float(numpy.std([exponent(s, 1.4) for s in samples]))],
            "deviation": float(numpy.abs(rate / (C * (width - k) ** 2.5) - 1).max())}


def figure(path, draw):
    fig, axes = pyplot.subplots(figsize=(6.4, 4.2))
    draw(axes)
    axes.grid(True, alpha=0.3)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None})
    fig.savefig(path.with_suffix(".png"), dpi=110) if path.parent.name == "pictures" else None
    pyplot.close(fig)


def draw_all(results, folder):
    def angles(axes):
        rows = results["repose"]
        axes.errorbar([r["mu"] for r in rows], [r["angle"] for r in rows], [r["error"] for r in rows], fmt="o-", capsize=3)
        axes.set(xlabel="friction coefficient μ", ylabel="angle of repose [°]", xlim=(0, None), ylim=(0, None))
    def loads(axes):
        for k, silo in enumerate(results["janssen"]):
            rows, s = silo["rows"], silo["saturation"][0]
            weight = numpy.linspace(0, max(r["weight"] for r in rows), 200)
            axes.errorbar([r["weight"] for r in rows], [r["load"] for r in rows], [r["error"] for r in rows], fmt="o", capsize=3, color=f"C{k}",
                          label=f"μ of the walls {silo['mu_wall']}")
            axes.plot(weight, s * (1 - numpy.exp(-weight / s)), color=f"C{k}", label="Janssen, fitted")
            s = silo["saturation_from_K"]
            axes.plot(weight, s * (1 - numpy.exp(-weight / s)), "--", color=f"C{k}", label="Janssen, K measured in the grains")
        axes.plot([0, weight[-1]], [0, weight[-1]], ":", color="grey", label="whole weight")
        axes.set(xlabel="weight of the filling [N]", ylabel="load on the floor [N]", xlim=(0, None), ylim=(0, 1.6 * max(r["load"] for s in results["janssen"] for r in s["rows"])))
        axes.legend(fontsize=8)
    def rates(axes):
        d = results["discharge"]
        rows = d["rows"]
        width = numpy.linspace(d["k"][0], 1.05 * rows[-1]["width"], 200)
        axes.errorbar([r["width"] for r in rows], [r["rate"] for r in rows], [r["error"] for r in rows], fmt="o", capsize=3, label="measured")
        axes.plot(width, d["C"][0] * (width - d["k"][0]) ** 2.5, label=f"C (D/d - k)^(5/2), k = {d['k'][0]:.2f}")
        axes.set(xlabel="width of the opening D/d", ylabel="grains per second", xlim=(0, None), ylim=(0, None))
        axes.legend()
    for name, draw in (("repose", angles), ("janssen", loads), ("discharge", rates)):
        if name in results:
            figure(folder / f"heap-{name}.svg", draw)


def table(results):
    lines = []
    if "repose" in results:
        lines += ["## Angle of repose", "", "| mu | angle [°] | standard error | grains left | fastest of them [m/s] |", "|---|---|---|---|---|"]
        lines += [f"| {r['mu']} | {r['angle']:.1f} | {r['error']:.1f} | {min(r['grains_left'])} to {max(r['grains_left'])} | {r['fastest_left']:.1g} |" for r in results["repose"]]
    for silo in results.get("janssen", []):
        lines += ["", f"## Silo, mu of the walls {silo['mu_wall']}", "",
                  "| grains | weight [N] | load on the floor [N] | standard error | Janssen, fitted [N] | K in the grains | friction of the walls over mu N |", "|---|---|---|---|---|---|---|"]
        s = silo["saturation"][0]
        lines += [f"| {r['count']} | {r['weight']:.2f} | {r['load']:.3f} | {r['error']:.3f} | {s * (1 - math.exp(-r['weight'] / s)):.3f} | {r['K'][0]:.3f} ± {r['K'][1]:.3f} | {r['mobilised'][0]:.3f} |"
                  for r in silo["rows"]]
        lines += ["", f"Saturation {s:.2f} ± {silo['saturation'][1]:.2f} N, λ = {1e3 * silo['lambda']:.1f} mm at {silo['density']:.0f} kg/m³; "
                  f"wall friction that acts {silo['mu_acting']:.3f} of the normal force; K = A/(μ P λ) with it = {silo['K_fitted'][0]:.3f} ± {silo['K_fitted'][1]:.3f}; from the forces between the grains {silo['K_measured'][0]:.3f} ± "
                  f"{silo['K_measured'][1]:.3f}, which predicts a saturation of {silo['saturation_from_K']:.2f} N without a fit."]
    if "discharge" in results:
        d = results["discharge"]
        lines += ["", "## Discharge", "", "| D/d | grains per second | standard error | C (D/d - k)^(5/2) |", "|---|---|---|---|"]
        lines += [f"| {r['width']:.2f} | {r['rate']:.0f} | {r['error']:.0f} | {d['C'][0] * (r['width'] - d['k'][0]) ** 2.5:.0f} |" for r in d["rows"]]
        lines += ["", f"k = {d['k'][0]:.2f} ± {d['k'][1]:.2f} with the exponent 5/2 given, C = {d['C'][0]:.2f} ± {d['C'][1]:.2f} /s, largest deviation {100 * d['deviation']:.1f} %. "
                  f"With k = 1.4 given the exponent is {d['exponent_k_1.4'][0]:.2f} ± {d['exponent_k_1.4'][1]:.2f}."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for heap_physics.json and .md")
    parser.add_argument("--pictures", type=pathlib.Path, required=True, help="folder for the SVG files")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for models and results of the runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="repose,janssen,discharge")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    lab, seeds = Laboratory(options.program, options.work), range(1, options.seeds + 1)
    measurements = {"repose": repose, "janssen": janssen, "discharge": discharge}
    results = {name: measurements[name](lab, seeds) for name in options.only.split(",")}
    where = machine.machine("libmujoco-dev")
    lines = ["# Physics of heaps", "", f"Written by `benchmarks/run heap_physics`, {options.seeds} starts of each; what is measured and how: docs/physics-of-heaps.md. "
             f"Machine: {where['cpu']}; {where['date']}.", ""] + table(results) + [""]
    options.results.mkdir(exist_ok=True)
    options.pictures.mkdir(parents=True, exist_ok=True)
    (options.results / "heap_physics.md").write_text("\n".join(lines))
    (options.results / "heap_physics.json").write_text(json.dumps({"machine": where, **results}, indent=1) + "\n")
    draw_all(results, options.pictures)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
