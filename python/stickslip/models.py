# SPDX-License-Identifier: Apache-2.0
"""Models made in Python: the tables of a model file as dicts, with arrays, sparse matrices and functions in them."""
from . import arguments
from ._core import _parse, _setting_value, _toml_value

#: Sections that a model can have several of, each a table of its own.
LISTS = ("friction", "contact", "constraint", "drawing", "body", "shape", "spring", "hinge", "loop", "load", "motor", "coupling")
#: Sections of which there is one.
TABLES = ("parameters", "tables", "inputs", "matrices", "equations", "compliance", "initial", "gravity", "run", "periodic", "shoot", "fit")
#: Texts at the head of a model.
TEXTS = ("title", "urdf", "mjcf")


class _Writer:
    """Plain data as TOML; what a text cannot hold is put aside under a name."""

    def __init__(self):
        self.files = []  #: (name, text) of matrices
        self.functions = {}

    def value(self, value, path):
        if callable(value):
            return {"function": self.function(value, path)}
        if isinstance(value, dict):
            if callable(value.get("function")):  # with what is known of it
                value = {**value, "function": self.function(value["function"], path)}
            return {self.key(key, path): self.value(each, f"{path}.{key}") for key, each in value.items() if each is not None}
        if hasattr(value, "tocoo"):  # any sparse matrix of scipy
            return self.matrix(value, path)
        if isinstance(value, (list, tuple)):
            return [self.value(each, f"{path}.{k}") for k, each in enumerate(value)]
        return value

    @staticmethod
    def key(key, path):
        if not isinstance(key, str):
            raise TypeError(f"{path}: the key {key!r} must be a text")
        return key[:-1] if key.endswith("_") else key  # from_, continue_: words of Python

    def function(self, function, path):
        self.functions[path] = function
        return path

    def matrix(self, matrix, path):
        entries = matrix.tocoo()
        entries.sum_duplicates()
        name = f"{path}.mtx"
        lines = ["%%MatrixMarket matrix coordinate real general", f"{entries.shape[0]} {entries.shape[1]} {entries.nnz}"]
        lines += [f"{i + 1} {j + 1} {float(x)!r}" for i, j, x in zip(entries.row, entries.col, entries.data)]
        self.files.append((name, "\n".join(lines) + "\n"))
        return name

    def text(self, sections):
        known = TEXTS + TABLES + LISTS
        head = [name for name in sections if name not in TABLES + LISTS]
        lines = [f"{_toml_key(name)} = {_toml_value(self.value(sections[name], name))}" for name in head]
        for name in sorted((n for n in sections if n in TABLES + LISTS), key=known.index):
            content = sections[name]
            if name in LISTS and isinstance(content, dict):
                content = [content]
            tables = content if name in LISTS else [content]
            for k, table in enumerate(tables):
                if not isinstance(table, dict):
                    raise TypeError(f"{name}: a dict is expected" + (", or a list of dicts" if name in LISTS else "")
                                    + f", not {type(table).__name__}")
                path = f"{name}.{table.get('name', k)}" if name in LISTS else name
                lines += ["", f"[[{name}]]" if name in LISTS else f"[{name}]"]
                for key, value in table.items():
                    if value is not None:
                        key = self.key(key, path)
                        lines.append(f"{_toml_key(key)} = {_toml_value(self.value(value, f'{path}.{key}'))}")
        return "\n".join(lines).lstrip("\n") + "\n"


def _toml_key(key):
    plain = key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return key if plain else _toml_value(key)


def settings_of(changes):
    """What `set` is given, as the texts of --set."""
    if not changes:
        return []
    if isinstance(changes, dict):
        return [f"{key}={_setting_value(value)}" for key, value in changes.items()]
    return arguments.texts("set", changes)


def model(sections=None, *, set=None, path="model.toml", **more):
    """The case of a model made of dicts: the sections of a model file with the same keys (docs/model-file.md).

        case = stickslip.model(
            parameters={"k": 4.0},
            matrices={"mass": numpy.eye(2), "stiffness": scipy.sparse.diags([8.0, 8.0]), "force": [lambda t, q, v: math.sin(t), 0]},
            friction=[{"name": "shoe", "on": "x1", "limit": "0.1*k"}],
            run={"scheme": "moreau", "step": 1e-3, "end_time": 4})

    Matrices may be lists, numpy arrays or sparse matrices of scipy. In place of an expression there may be a function
    f(t, q, v) of the time [s], the positions and the velocities, which gives a number; what is known of it is said by
    {"function": f, "time": False, "positions": ["x1"], "velocities": [], "degree": "affine", "breakpoints": [1.0]}.
    Several laws, bodies, hinges: a list of dicts. `None` leaves a key out; `from_`, `continue_` stand for words of Python.
    """
    all_sections = arguments.mapping("sections", sections or {})
    all_sections.update(more)
    writer = _Writer()
    text = writer.text(all_sections)
    folder = str(path).rpartition("/")[0]
    files = [(f"{folder}/{name}" if folder else name, content) for name, content in writer.files]
    return _parse(text, arguments.path("path", path), settings_of(set), files, writer.functions)


class Model:
    """A model put together piece by piece; `case()` makes a case of it.

        m = stickslip.Model("A pendulum")
        m.body(name="rod", mass=1.0, inertia=[0.1, 0.1, 0.1])
        m.hinge(name="pin", child="rod", axes=["ry"], child_position=[0, 0, 0.5])
        m.friction(on="pin.ry", limit=0.2)
        m.run(scheme="moreau", step=1e-3, end_time=2)
        case = m.case()

    Methods have the names of the sections of a model file, and take its keys: `parameters`, `matrices`, `run`, ... change
    their table, `body`, `hinge`, `friction`, `contact`, ... add one more.
    """

    def __init__(self, title=None, **sections):
        self.sections = {} if title is None else {"title": title}
        self.sections.update(sections)

    def __getattr__(self, name):
        if name in LISTS:
            return lambda **table: self._add(name, table)
        if name in TABLES:
            return lambda **table: self._change(name, table)
        raise AttributeError(f"a model has no section {name!r}; there are {', '.join(TABLES + LISTS)}")

    def _add(self, name, table):
        self.sections.setdefault(name, []).append(table)
        return self

    def _change(self, name, table):
        self.sections.setdefault(name, {}).update(table)
        return self

    def case(self, set=None, path="model.toml"):
        """The case; mistakes are told as those of a model file."""
        return model(self.sections, set=set, path=path)

    def __repr__(self):
        parts = ", ".join(f"{len(v)} {k}" if isinstance(v, list) else k for k, v in self.sections.items() if k != "title")
        return f"<stickslip.Model {self.sections.get('title', '')!r}: {parts}>"
