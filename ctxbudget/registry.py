"""Names → things, one registry for loaders, passes, strategies and renderers.

A name is a file of our own folder (``clear_tool_results.py`` → ``clear-tool-results``), an entry point of the group
called like the folder, or, where the command line allows it, a dotted path or a file. Nothing is imported until it
is asked for; a plug-in that does not load is skipped in listings, with a warning, and an error when named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ctxbudget.errors import ConfigError, CtxbudgetError, UnknownName
from ctxbudget.trace import Warning as TraceWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listed:
    """A name in a listing with its first line of documentation, or with ``broken``: why it does not load."""

    name: str
    text: str
    broken: str = ""


def whole_module(name: str, source: Any) -> Any:
    """The module itself is the thing (loaders and renderers are modules with functions)."""
    del name
    return source


@dataclass(frozen=True)
class Registry(Generic[T]):
    """All things of one sort.

    ``what`` is the singular shown to users; ``package`` the folder that is scanned, and the entry-point group;
    ``pick(name, source)`` makes the thing from a module, or from a path where ``suffix`` is not ``.py``.
    """

    what: str
    package: str
    suffix: str = ".py"
    pick: Callable[[str, Any], T] = field(default=whole_module)

    def names(self) -> tuple[str, ...]:
        """Every name, sorted; nothing is imported for it."""
        return tuple(sorted({*self._own, *self._plugged}))

    def get(self, name: str, *, anywhere: bool = False) -> T:
        """The thing of that name. With ``anywhere`` a file path or a dotted path works too (command line only).

        Raises UnknownName with the nearest name, ConfigError for a thing that does not load.
        """
        if name in self._own:
            return self.pick(name, self._opened(self._own[name]))
        if name in self._plugged:
            return self._guarded(name, lambda: self.pick(name, self._loaded(name)))
        if anywhere and is_path(name):
            return self._guarded(name, lambda: self.pick(called(name), _from_file(name)))
        if anywhere and "." in name:
            return self._guarded(name, lambda: self.pick(called(name), import_module(name)))
        raise UnknownName(self.what, name, self.names())

    def describe(self, name: str) -> str:
        """The first line of its documentation."""
        thing = self.get(name)
        text = getattr(thing, "description", None) or getdoc(thing) or ""
        return str(text).partition("\n")[0]

    def listing(self) -> tuple[Listed, ...]:
        """Every name with its documentation; what does not load says why."""
        return tuple(self._listed(name) for name in self.names())

    def working(self) -> tuple[dict[str, T], tuple[TraceWarning, ...]]:
        """Everything that loads, and a warning for each plug-in that does not."""
        good: dict[str, T] = {}
        warnings = []
        for name in self.names():
            try:
                good[name] = self.get(name)
            except ConfigError as error:
                warnings.append(TraceWarning("broken-plugin", error.message))
        return good, tuple(warnings)

    def _listed(self, name: str) -> Listed:
        try:
            return Listed(name, self.describe(name))
        except ConfigError as error:
            return Listed(name, "", error.message)

    @cached_property
    def _own(self) -> dict[str, str]:
        folder = files(self.package)
        return {_named(stem): stem for stem in sorted(_stems(folder, self.suffix)) if not stem.startswith("_")}

    @cached_property
    def _plugged(self) -> dict[str, EntryPoint]:
        points = {point.name: point for point in sorted(entry_points(group=self.package), key=lambda point: point.name)}
        if self.suffix == ".py":
            return {name: point for name, point in points.items() if name not in self._own}
        inside = ((name, point) for point in points.values() for name in _inside(point, self.suffix))
        return {name: point for name, point in inside if name not in self._own}

    def _opened(self, stem: str) -> Any:
        if self.suffix == ".py":
            return import_module(f"{self.package}.{stem}")
        return files(self.package) / f"{stem}{self.suffix}"

    def _loaded(self, name: str) -> Any:
        point = self._plugged[name]
        if self.suffix == ".py":
            return point.load()
        return next(path for path in files(point.value).iterdir() if _named(Path(path.name).stem) == name)

    def _guarded(self, name: str, load: Callable[[], T]) -> T:
        try:
            return load()
        except CtxbudgetError:
            raise
        except Exception as error:
            raise ConfigError(f"{self.what} {name!r} does not load: {type(error).__name__}: {error}") from error


def is_path(name: str) -> bool:
    """Whether a name is meant as a file: it ends like one, or has a slash."""
    return name.endswith((".py", ".toml")) or "/" in name or "\\" in name


def called(name: str) -> str:
    """The name of a thing that is given as a file or a dotted path; any other name is itself."""
    return _named(Path(name).stem) if is_path(name) else _named(name.rpartition(".")[2])


def _named(stem: str) -> str:
    return stem.replace("_", "-")


def _stems(folder: Any, suffix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.name.endswith(suffix):
            yield entry.name.removesuffix(suffix)
        elif suffix == ".py" and entry.is_dir() and (entry / "__init__.py").is_file():
            yield entry.name


def _inside(point: EntryPoint, suffix: str) -> list[str]:
    """The names in a plug-in's package of data files; none where the package is missing."""
    try:
        return sorted(_named(stem) for stem in _stems(files(point.value), suffix))
    except (ImportError, OSError):
        return []


def _from_file(path: str) -> Any:
    """The module in a ``.py`` file; any other file is given as its path."""
    if not Path(path).is_file():
        raise ConfigError(f"{path}: no such file", hint="give the path of a .toml or .py file that is there")
    if not path.endswith(".py"):
        return Path(path)
    spec = spec_from_file_location(f"ctxbudget_from_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: cannot be imported")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
