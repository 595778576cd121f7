# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation: it is made, every link leads somewhere, every model is in its gallery."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_link_of_the_site_leads_somewhere(tmp_path):
    made = subprocess.run(["/usr/bin/python3", "-B", ROOT / "tools/site", "--out", tmp_path / "site"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    gallery = (tmp_path / "site/gallery.html").read_text()
    for model in (ROOT / "models").glob("*.toml"):
        assert f"models/{model.name}" in gallery, model.name
        assert (tmp_path / f"site/docs/images/gallery/{model.stem}.png").stat().st_size > 1000, model.name
    for page in ("index", "docs/model-file", "docs/faq", "docs/coming-from", "reference/python", "reference/cpp/motion"):
        assert (tmp_path / f"site/{page}.html").stat().st_size > 2000, page


def test_a_link_that_leads_nowhere_is_an_error(tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("docs", "models", "examples", "papers", "benchmarks", "tests", "stickslip", "report", "python", "fmi", "tools",
                 "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"):
        if name != "docs":
            (copy / name).symlink_to(ROOT / name)
    subprocess.run(["cp", "-r", ROOT / "docs", copy / "docs"], check=True)
    (copy / "tools").unlink()
    (copy / "tools").mkdir()
    for name in ("site", "gallery_models.py"):
        (copy / "tools" / name).write_text((ROOT / "tools" / name).read_text())
    with open(copy / "docs/faq.md", "a") as page:
        page.write("\n[nowhere](absent.md)\n")
    made = subprocess.run(["/usr/bin/python3", "-B", copy / "tools/site", "--out", tmp_path / "site"], capture_output=True, text=True)
    assert made.returncode == 1 and "absent.md" in made.stderr
