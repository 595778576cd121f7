# SPDX-License-Identifier: Apache-2.0
"""Bricard's mechanism, whose loop has one row more than it needs, under moreau: order 2 up to large steps."""


def test_bricards_mechanism_converges_under_moreau(stickslip, models):
    exact = 6.725995972912e-05  # event at 1e-12, first angle at 5 s
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        summary = stickslip.json("run", models / "bricard.toml", "--scheme", "moreau", "--set", f"run.step={step}", "--out", "out")
        assert summary["status"] == "success", summary["message"]
        position = summary["final"]["position"]
        assert max(abs(position[k] - position[0]) for k in (2, 4)) < 1e-12  # the symmetry that rows beside it would break
        errors.append(abs(position[0] - exact))
    assert errors[0] < 1e-6 and errors[0] > 3 * errors[1] > 9 * errors[2]
