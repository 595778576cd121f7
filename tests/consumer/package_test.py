# SPDX-License-Identifier: Apache-2.0
"""The Debian package: made from the build, unpacked, and used from where it was unpacked."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STICKSLIP", "")).resolve().parents[1] if "STICKSLIP" in os.environ else None


def call(*command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    call("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder)
    [deb] = folder.glob("*.deb")
    call("dpkg-deb", "-x", deb, folder / "root")
    return deb, folder / "root/usr"


def test_it_names_the_version_and_what_it_needs(package):
    fields = call("dpkg-deb", "-f", package[0])
    version = re.search(r"project\(stickslip VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f"Version: {version}\n" in fields
    for needed in ("python3 ", "python3-numpy", "libhdf5"):
        assert needed in fields


def test_program_models_and_documents_are_in_it(package, tmp_path):
    program, share = package[1] / "bin/stickslip", package[1] / "share"
    call(program, "run", share / "stickslip/models/two-masses.toml", "--set", "run.end_time=1", "--out", tmp_path / "result")
    assert (tmp_path / "result/report.html").exists()
    for name in ("copyright", "model-file.md", "images/arch.png"):
        assert (share / "doc/stickslip" / name).exists(), name


def test_every_link_of_an_installed_page_leads_to_a_file(package):
    folder = package[1] / "share/doc/stickslip"
    pages = sorted(folder.rglob("*.md"))
    assert len(pages) > 40
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" not in link and not link.startswith(("#", "mailto:")):
                assert (page.parent / link.split("#")[0]).exists(), (page, link)


def test_the_python_module_is_in_it(package, tmp_path):
    [module] = package[1].glob("lib/python3*/dist-packages/stickslip")
    environment = {**os.environ, "PYTHONPATH": str(module.parent)}
    code = ("import stickslip, sys; case = stickslip.load(sys.argv[1]); result = case.run(); "
            "print(stickslip.__file__, result.position.shape[1])")
    out = call(sys.executable, "-B", "-c", code, package[1] / "share/stickslip/models/two-masses.toml", env=environment, cwd=tmp_path)
    assert str(package[1]) in out and out.split()[-1] == "2"


def test_pkg_config_builds_a_program(package, tmp_path):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(package[1] / "lib/pkgconfig")}
    flags = call("pkg-config", "--cflags", "--libs", "stickslip", env=environment).split()
    call("c++", "-O0", ROOT / "tests/consumer/main.cpp", "-o", tmp_path / "consumer", *flags, "-std=c++20")  # after that of other packages
    call(tmp_path / "consumer")


def test_a_release_needs_its_version_everywhere():
    tool = ROOT / "tools/release"
    assert subprocess.run([tool], capture_output=True).returncode == 2
    wrong = subprocess.run([tool, "99.0.0", "--quick"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "another version" in wrong.stderr
