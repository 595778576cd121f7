# SPDX-License-Identifier: Apache-2.0
"""The impact key of [[contact]], and the line about energy that impacts have made."""
import pytest

CORNER = """
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.1]]
[[contact]]
name = "corner"
gap = "y + 0.5*phi"
slip = "x + 0.45*phi"
mu = 0.6
restitution = 0.9
impact = "newton"
[initial]
position = [0, 0.05, 0]
velocity = [-0.6428571428571429, -1, 0]
[run]
scheme = "moreau"
step = 0.001
end_time = 0.12
"""


def normal_velocity(summary):
    v = summary["final"]["velocity"]
    return v[1] + 0.5 * v[2]


@pytest.mark.parametrize("scheme", ["moreau", "event"])
def test_energy_made_by_impacts_stands_in_the_summary_line(stickslip, scheme):
    stickslip.write("corner.toml", CORNER)
    newton = stickslip("run", "corner.toml", "--scheme", scheme)
    assert newton.returncode == 0, newton.stderr
    assert "impacts made 0.0789 J" in newton.stdout
    audit = stickslip.json("run", "corner.toml", "--scheme", scheme)["audit"]
    # e^2/(1 - rho^2) - 1 of 1/(2 D_NN), D_NN = 3.5, rho^2 = 2.25^2/(3.5 * 3.025)
    made = (0.81 / (1 - 2.25**2 / (3.5 * 3.025)) - 1) / 7
    assert abs(audit["energy_impact_gain"]["value"] - made) < 1e-12
    assert audit["energy_friction_loss"]["value"] >= 0
    for law in ["poisson", "energetic"]:
        quiet = stickslip("run", "corner.toml", "--scheme", scheme, "--set", f'contact.0.impact="{law}"')
        assert quiet.returncode == 0, quiet.stderr
        assert "impacts made" not in quiet.stdout
        audit = stickslip.json("run", "corner.toml", "--scheme", scheme, "--set", f'contact.0.impact="{law}"')["audit"]
        assert audit["contact_gain"]["guaranteed"] and audit["contact_gain"]["value"] == 0


def test_check_names_the_law_and_a_wrong_word_is_refused(stickslip):
    stickslip.write("corner.toml", CORNER)
    assert "restitution 0.9 (newton)" in stickslip("check", "corner.toml").stdout
    wrong = stickslip("check", "corner.toml", "--set", 'contact.0.impact="energtic"')
    assert wrong.returncode == 2
    assert "energetic" in wrong.stderr and "impact" in wrong.stderr


def test_the_energetic_law_refuses_other_cones(stickslip):
    spatial = CORNER.replace('slip = "x + 0.45*phi"', 'slip = ["x + 0.45*phi", "x"]\ncone = "box"').replace("newton", "energetic")
    stickslip.write("box.toml", spatial)
    refused = stickslip("check", "box.toml")
    assert refused.returncode == 2
    assert "poisson" in refused.stderr
