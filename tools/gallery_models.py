# SPDX-License-Identifier: Apache-2.0
"""What the gallery shows: every model with its title, the line of models/README.md and the command that shows what it is for."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class GalleryModel:
    path: pathlib.Path
    text: str
    command: str  # run, or the analysis that the table names first

    @property
    def name(self):
        return self.path.stem


def models():
    table = (ROOT / "models/README.md").read_text()
    rows = {m[1]: (m[2], m[3]) for m in re.finditer(r"^\| `([\w-]+\.toml)` \| (.*?) \| (.*?) \|$", table, re.M)}
    for path in sorted((ROOT / "models").glob("*.toml")):
        system, shows = rows.get(path.name, ("", ""))
        title = re.search(r'^title\s*=\s*"(.*)"', path.read_text(), re.M)
        analysis = re.match(r"`(fit|shoot|periodic)`:", shows)
        yield GalleryModel(path, ": ".join(filter(None, [title and title[1], system])) + f". {shows}", analysis[1] if analysis else "run")
