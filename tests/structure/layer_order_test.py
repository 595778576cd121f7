# SPDX-License-Identifier: Apache-2.0
"""A folder includes only from the layers above it, a test has a namespace of its own, every source names its licence."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What each layer may include besides itself, in the order of docs/architecture.
MAY_INCLUDE = {
    "common": set(),
    "continuation": {"common"},
    "laws": {"common"},
    "solvers": {"common", "continuation", "laws"},
    "model": {"common", "laws"},
    "motion": {"common", "laws", "solvers", "model"},
    "boundary": {"common", "laws", "solvers", "model", "motion"},
    "periodic": {"common", "continuation", "laws", "solvers", "model", "motion"},
    "sweep": {"common"},
    "io": {"common", "continuation", "laws", "solvers", "model", "motion", "boundary", "periodic", "sweep"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<](stickslip|cli|papers|tests|benchmarks)/([a-z_]+)', re.MULTILINE)


def violations(layer, text):
    found = []
    for top, folder in INCLUDE.findall(text):
        if top != "stickslip" or (folder != layer and folder not in MAY_INCLUDE[layer]):
            found.append(f"{top}/{folder}")
    return found


def library_sources():
    return sorted(p for p in (ROOT / "stickslip").rglob("*") if p.suffix in (".hpp", ".cpp"))


def test_no_layer_includes_from_below():
    bad = {}
    for path in library_sources():
        layer = path.relative_to(ROOT / "stickslip").parts[0]
        assert layer in MAY_INCLUDE, f"{path}: a new layer needs a row in this table"
        if found := violations(layer, path.read_text()):
            bad[str(path.relative_to(ROOT))] = found
    assert not bad, f"includes against the layer order: {bad}"


def test_the_check_sees_an_upward_include():
    assert violations("laws", '#include "stickslip/motion/state.hpp"\n') == ["stickslip/motion"]
    assert violations("solvers", '#include "stickslip/model/system.hpp"\n') == ["stickslip/model"]
    assert violations("model", '#include "stickslip/solvers/solve.hpp"\n') == ["stickslip/solvers"]
    assert violations("io", '#include "cli/commands.hpp"\n') == ["cli/commands"]
    assert violations("boundary", '#include "stickslip/io/model_file.hpp"\n') == ["stickslip/io"]
    assert violations("motion", '#include "stickslip/model/system.hpp"\n') == []


def test_the_library_prints_nothing():
    printing = re.compile(r"\bstd::c(out|err)\b|\bprintf\s*\(|\bfmt::print\b|\bputs\s*\(")
    bad = [str(p.relative_to(ROOT)) for p in library_sources() if printing.search(p.read_text())]
    assert not bad, f"the library prints nothing, but these do: {bad}"


def test_every_test_source_has_a_namespace_of_its_own():
    # Test sources are compiled together: helpers of one must not be found from another.
    sources = sorted((ROOT / "tests").glob("*/*_test.cpp"))
    bad = [f"{p.parent.name}/{p.name}" for p in sources if f"\nnamespace stickslip::{p.stem} {{\n" not in p.read_text()]
    assert sources and not bad, f"a test source x_test.cpp opens namespace stickslip::x_test, but these do not: {bad}"


def test_every_source_names_its_licence():
    folders = ["stickslip", "cli", "papers", "tests", "benchmarks", "report/src", "tools"]
    endings = {".hpp", ".cpp", ".py", ".js", ".mjs"}
    bad = []
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in endings and "node_modules" not in path.parts:
                if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(path.read_text().splitlines()[:3]):
                    bad.append(str(path.relative_to(ROOT)))
    assert not bad, f"no SPDX line in: {bad}"
