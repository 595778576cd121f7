# SPDX-License-Identifier: Apache-2.0
"""What the configuration of the build looks for is installed by ./run: a machine with Debian's base system alone gets all of it."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROUGHT_BY = {
    "CLI11": "libcli11-dev", "Eigen3": "libeigen3-dev", "GTest": "libgtest-dev", "HDF5": "libhdf5-dev", "MPI": "libopenmpi-dev",
    "PkgConfig": "pkg-config", "Spectra": "libspectra-dev", "Threads": "build-essential", "assimp": "libassimp-dev", "cairo": "libcairo2-dev",
    "cpp-httplib": "libcpp-httplib-dev", "fmt": "libfmt-dev", "libzip": "libzip-dev", "nlohmann_json": "nlohmann-json3-dev",
    "pybind11": "pybind11-dev", "tinyxml2": "libtinyxml2-dev", "tomlplusplus": "libtomlplusplus-dev",
}
ELSEWHERE = {"benchmarks", "build"}  # asked for by options; not sources


def group(name):
    return re.search(rf"^{name}=\((.*?)\)", (ROOT / "tools/install-packages").read_text(), re.M | re.S)[1].split()


def test_what_is_looked_for_is_installed():
    files = [f for f in ROOT.rglob("CMakeLists.txt") if f.relative_to(ROOT).parts[0] not in ELSEWHERE and "consumer" not in f.parts]
    text = "\n".join(f.read_text() for f in files + list((ROOT / "cmake").glob("*.cmake")))
    asked = set(re.findall(r"find_package\((\w+)", text))
    for modules in re.findall(r"pkg_check_modules\(\w+ ([^)]*)\)", text):
        asked |= {m for m in modules.split() if m not in ("REQUIRED", "IMPORTED_TARGET", "QUIET")}
    assert len(asked) > 10
    assert asked - set(BROUGHT_BY) == set(), "name the package that brings it"
    missing = {name: BROUGHT_BY[name] for name in asked if BROUGHT_BY[name] not in group("build")}
    assert missing == {}, "./run configures the whole tree, and installs the group build only"


def test_a_container_is_made_of_the_sources_alone():
    """Build folders hold gigabytes, and paths of another place that CMake refuses."""
    left_out = (ROOT / ".containerignore").read_text().split("\n")
    assert "build" in left_out and "**/node_modules" in left_out
