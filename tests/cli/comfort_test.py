# SPDX-License-Identifier: Apache-2.0
"""Starters that run, the doctor, completion, the manual page; JSON as its schemas say."""
import json
import pathlib
import re
import shutil
import subprocess

import jsonschema
import pytest

from conftest import PROGRAM, ROOT

COMMANDS = {"matrices": "run", "equations": "run", "bodies": "run", "tree": "run", "contact": "run", "periodic": "periodic",
            "shoot": "shoot", "fit": "fit", "sweep": "sweep"}


def valid(document, name):
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(document, schema)


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_starter_runs_as_it_says_and_its_json_follows_the_schema(stickslip, kind):
    written = stickslip("new", kind)
    assert written.returncode == 0 and f"stickslip {COMMANDS[kind]} {kind}.toml" in written.stdout
    text = (stickslip.folder / f"{kind}.toml").read_text()
    assert f"stickslip {COMMANDS[kind]} {kind}.toml" in text and " FILE" not in text
    assert text.count("#") >= 5
    valid(stickslip.json(COMMANDS[kind], f"{kind}.toml"), COMMANDS[kind])


def test_new_lists_kinds_and_replaces_nothing_unasked(stickslip):
    kinds = stickslip("new")
    assert kinds.returncode == 0 and [line.split()[0] for line in kinds.stdout.splitlines()] == list(COMMANDS)
    assert stickslip("new", "fit", "mine.toml").returncode == 0
    assert stickslip.files() == ["mine.csv", "mine.toml"] and 'data     = "mine.csv"' in (stickslip.folder / "mine.toml").read_text()
    (stickslip.folder / "mine.toml").write_text("edited")
    again = stickslip("new", "matrices", "mine.toml")
    assert again.returncode == 2 and "--force" in again.stderr and (stickslip.folder / "mine.toml").read_text() == "edited"
    assert stickslip("new", "matrices", "mine.toml", "--force").returncode == 0
    wrong = stickslip("new", "matrice")
    assert wrong.returncode == 2 and "did you mean 'matrices'?" in wrong.stderr


def test_the_doctor_finds_nothing_wrong(stickslip):
    found = stickslip.json("doctor")
    valid(found, "doctor")
    assert found["status"] == "success" and all(check["ok"] for check in found["checks"])
    assert stickslip.files() == []
    assert "all is well" in stickslip("doctor").stdout


def test_failures_follow_the_schema(stickslip):
    stickslip("new", "matrices")
    valid(stickslip.json("sweep", "matrices.toml", "--over", "run.step=0.01,-1", code=1), "sweep")
    # A force that becomes infinite.
    valid(stickslip.json("run", "matrices.toml", "--set", 'matrices.force=["1/(t-5)^2*1e300*1e10", 0]', code=1), "run")


def words(shell_folder, *typed):
    """What bash offers for the last word."""
    script = subprocess.run([PROGRAM, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    line = " ".join(f"'{word}'" for word in ("stickslip", *typed))
    done = subprocess.run(["bash", "-c", f"compopt() {{ :; }}\n{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(typed)}; _stickslip; "
                           'printf "%s\\n" "${COMPREPLY[@]}"'], cwd=shell_folder, capture_output=True, text=True)
    assert done.stderr == "" and done.returncode == 0
    return set(done.stdout.splitlines()) - {""}


def test_bash_completes_commands_options_words_and_files(stickslip):
    (stickslip.folder / "a.toml").write_text("")
    (stickslip.folder / "b.txt").write_text("")
    (stickslip.folder / "results").mkdir()
    assert words(stickslip.folder, "sw") == {"sweep"}
    assert {"run", "sweep", "new", "doctor"} <= words(stickslip.folder, "")
    assert "--threads" in words(stickslip.folder, "sweep", "--")
    assert words(stickslip.folder, "run", "--scheme", "") == {"splitting", "moreau", "event", "compliant", "viscoelastic"}
    assert words(stickslip.folder, "new", "ma") == {"matrices"}
    assert words(stickslip.folder, "list", "s") == {"schemes", "solvers"}
    assert words(stickslip.folder, "run", "") == {"a.toml", "results"}
    assert words(stickslip.folder, "run", "--out", "") == {"results"}
    (stickslip.folder / "my model (v2).toml").write_text("")
    (stickslip.folder / "old results").mkdir()
    assert words(stickslip.folder, "run", "my") == {"my model (v2).toml"}
    assert words(stickslip.folder, "run", "--out", "old") == {"old results"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells_are_valid_and_know_every_command(stickslip, shell):
    script = stickslip("completion", shell)
    assert script.returncode == 0
    for line in stickslip("--help").stdout.split("Subcommands:")[1].splitlines():
        if match := re.match(r"  ([a-z]+) ", line):
            assert re.search(rf"\b{match[1]}\b", script.stdout)
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=script.stdout, capture_output=True, text=True)
        assert check.returncode == 0 and check.stderr == ""


def test_a_model_of_the_manual_is_found_where_it_was_installed(stickslip):
    wrong = stickslip("run", "models/two-masses.toml")
    assert wrong.returncode == 2 and "no such file; one of that name came with the program: " in wrong.stderr
    assert pathlib.Path(wrong.stderr.strip().rsplit(": ", 1)[1]).exists()
    assert "came with" not in stickslip("run", "models/absent.toml").stderr


def test_a_model_of_nearly_that_name_is_named(stickslip):
    stickslip("new", "matrices", "belt.toml")
    assert stickslip("run", "bolt.toml").stderr == "stickslip: bolt.toml: no such file; did you mean belt.toml?\n"
    assert "did you mean" not in stickslip("run", "something-else.toml").stderr
    assert stickslip("run", "belt.toml", "--set", "run.end_time=0.1").returncode == 0
    for folder in ("belt", "belt/"):
        assert stickslip("check", folder).stderr.endswith("is a directory, not a file; did you mean belt.toml?\n")


def test_words_that_are_not_near_are_answered_with_what_there_is(stickslip):
    assert "(known: matrices, equations, " in stickslip("new", "foo").stderr
    stickslip("new", "periodic")
    assert "did you mean 'omega'?" in stickslip("periodic", "periodic.toml", "--continue", "om=1:2").stderr


@pytest.mark.parametrize("command", [line.split()[0] for line in subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout.split("Subcommands:")[1].split("\n\n")[0].splitlines() if re.match(r"  [a-z]", line)])
def test_the_help_of_a_command_shows_how_to_call_it_and_not_more(stickslip, command):
    text = stickslip(command, "--help").stdout
    assert f"stickslip {command}" in text.split("Options:")[1] or command == "doctor"
    assert "Papers (reproduce NAME)" not in text and len(text.splitlines()) < 45


def test_what_stands_for_an_option_is_told_as_the_option(stickslip):
    stickslip("new", "matrices")
    for arguments, front in ((["sweep", "--over", "kk=1:2:3"], "--over kk=1:2:3: there is no parameter 'kk' (did you mean 'k'?)"),
                             (["basin"], "basin: key 'sweep': 'over' is missing"), (["montecarlo"], "montecarlo: key 'sweep': 'over' is missing"),
                             (["montecarlo", "--seed", "x"], "--seed x: ")):
        wrong = stickslip(arguments[0], "matrices.toml", *arguments[1:])
        assert wrong.returncode == 2 and wrong.stderr.startswith("stickslip: " + front) and "--set" not in wrong.stderr, wrong.stderr


def test_an_unknown_shell_is_refused(stickslip):
    wrong = stickslip("completion", "fishh")
    assert wrong.returncode == 2 and "did you mean 'fish'?" in wrong.stderr


def test_the_manual_page_has_every_option(stickslip):
    page = stickslip("completion", "man").stdout
    assert page.startswith(".TH STICKSLIP 1") and ".SH EXIT STATUS" in page
    plain = page.replace("\\-", "-")
    for command in ("run", "sweep", "periodic"):
        for option in re.findall(r"--[a-z-]+", stickslip(command, "--help").stdout):
            assert option in plain
    if shutil.which("groff"):
        checked = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        assert checked.returncode == 0 and checked.stderr == ""
