"""Names of earlier versions: importable, with a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """A module's ``__getattr__`` that finds old names under their new ones and warns.

    Parameters
    ----------
    module
        The module's name.
    names
        The new name of each old one, as a path of attributes from the module.
    """

    def find(name: str) -> object:
        new = names.get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import sys
        import warnings

        warnings.warn(f"{module}.{name} is now {module}.{new}", DeprecationWarning, stacklevel=2)
        found: object = sys.modules[module]
        for part in new.split("."):
            found = getattr(found, part)
        return found

    return find
