from os import PathLike
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union
from numpy import ndarray

__version__: str
MODES: Tuple[str, ...]

class InputError(ValueError): ...

class RunError(RuntimeError):
    result: Result

class Event(NamedTuple):
    t: float
    law: str
    kind: str
    before: str
    after: str
    impulse: float

class AuditItem(NamedTuple):
    name: str
    value: float
    limit: Optional[float]
    ok: bool
    unit: str
    meaning: str

Changes = Union[None, str, Iterable[str], Mapping[str, Any]]
Watch = Callable[[float, Sequence[float], Sequence[float]], Optional[bool]]

class Case:
    parameters: Dict[str, float]
    settings: List[str]
    title: str
    path: str
    text: str
    scheme: str
    coordinates: List[str]
    velocities: List[str]
    laws: List[str]
    def __getitem__(self, name: str) -> float: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def set(self, *changes: Mapping[str, Any], **parameters: float) -> Case: ...
    def copy(self) -> Case: ...
    def run(self, watch: Optional[Watch] = None, check: bool = False, **options: Any) -> Result: ...

class Result:
    status: str
    ok: bool
    message: str
    scheme: str
    steps: int
    notes: List[str]
    audit: List[AuditItem]
    t: ndarray
    position: ndarray
    velocity: ndarray
    reaction: ndarray
    mode: ndarray
    energy: Dict[str, ndarray]
    events: List[Event]
    coordinates: List[str]
    velocities: List[str]
    laws: List[str]
    reactions: List[str]
    final_time: float
    final_position: List[float]
    final_velocity: List[float]
    def __getitem__(self, name: str) -> ndarray: ...
    def events_table(self) -> Any: ...
    def plot(self, columns: Optional[Sequence[str]] = None, show: bool = False) -> Any: ...

def load(path: Union[str, PathLike], set: Changes = None) -> Case: ...
def parse(text: str, path: Union[str, PathLike] = "model.toml", set: Changes = None) -> Case: ...
