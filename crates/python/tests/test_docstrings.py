"""Documentation of everything that people call: complete sections of numpydoc, and the same parameters as the signature."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import counterpoint as cp

MODULES = [
    "counterpoint",
    "counterpoint.client",
    "counterpoint.errors",
    "counterpoint.ledger",
    "counterpoint.noise",
    "counterpoint.plan",
    "counterpoint.recorder",
    "counterpoint.sessions",
    "counterpoint.study",
    "counterpoint.integrations.dp_accounting",
    "counterpoint.integrations.opendp",
]
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")


def modules() -> list[ModuleType]:
    return [importlib.import_module(name) for name in MODULES]


def callables() -> Iterator[tuple[str, Any]]:
    """Every public class and function, and every public method and property that a class of ours defines."""
    seen: set[int] = set()
    for module in modules():
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, ModuleType) or id(found) in seen or not (inspect.isclass(found) or callable(found)):
                continue
            if getattr(found, "__module__", "").startswith("typing"):
                continue
            seen.add(id(found))
            place = f"{found.__module__}.{name}"
            yield place, found
            if not inspect.isclass(found):
                continue
            # Each member as the class has it: what a subclass defines anew hides what it extends.
            members: set[str] = set()
            for cls in found.__mro__:
                if not cls.__module__.startswith("counterpoint"):
                    continue
                for member, value in vars(cls).items():
                    if member in members or member.startswith("_") or not _is_documented(value):
                        continue
                    members.add(member)
                    if id(value) in seen:
                        continue
                    seen.add(id(value))
                    yield f"{cls.__module__}.{cls.__name__}.{member}", value


def _is_documented(value: Any) -> bool:
    kinds = (staticmethod, classmethod, property)
    return isinstance(value, kinds) or inspect.isroutine(value) or inspect.isgetsetdescriptor(value) or _is_cached(value)


def _is_cached(value: Any) -> bool:
    return type(value).__name__ == "cached_property"


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by name; the text before the first is under the empty name."""
    found, name = {"": ""}, ""
    lines = inspect.cleandoc(text).splitlines()
    for place, line in enumerate(lines):
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if line in SECTIONS and below == "-" * len(line):
            name = line
            found[name] = ""
        elif not (name and line == "-" * len(name)):
            found[name] += line + "\n"
    return found


def documented(section: str) -> list[str]:
    """The names that a section describes."""
    names = re.findall(r"^(\S.*)$", section, re.MULTILINE)
    return [one.split(" : ")[0].strip() for name in names for one in name.split(",")]


def parameters(found: Any) -> list[str] | None:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [star.get(one.kind, "") + one.name for one in signature.parameters.values() if one.name not in ("self", "cls")]


def _is_data(cls: type) -> bool:
    return hasattr(cls, "__dataclass_fields__") or issubclass(cls, tuple) or typing.is_typeddict(cls)


def problems(place: str, found: Any) -> list[str]:
    text = getattr(found, "__doc__", None) or ""
    if isinstance(found, (staticmethod, classmethod)):
        text = found.__func__.__doc__ or ""
    if not text.strip():
        return [f"{place}: no docstring"]
    parts = sections(text)
    summary = inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ").strip().strip("*")
    wrong = []
    if not summary.endswith((".", ":")):
        wrong.append(f"{place}: the summary does not end with a full stop: {summary!r}")
    if re.match(r"(What|Whether|How|Why|Who|Whose|Where|Which)\b", summary):
        wrong.append(f"{place}: the summary begins with a relative clause: {summary!r}")
    if isinstance(found, property) or inspect.isgetsetdescriptor(found) or _is_cached(found):
        return wrong
    if inspect.isclass(found):
        # Exceptions and objects that the library makes: their constructors are not for callers.
        made = issubclass(found, Exception) or "Made by " in parts[""] or _is_data(found)
        if made and "Parameters" not in parts:
            return wrong
    bare = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    expected = parameters(bare)
    if expected is None:
        return [*wrong, f"{place}: no signature"]
    given = documented(parts.get("Parameters", ""))
    if given != expected:
        wrong.append(f"{place}: parameters are {expected}, documented {given}")
    if not inspect.isclass(found):
        returned = _returns(place, bare)
        if returned and "Returns" not in parts:
            wrong.append(f"{place}: no section Returns")
        if _raises(bare) and "Raises" not in parts:
            wrong.append(f"{place}: no section Raises")
    return wrong


def stubs() -> dict[str, str]:
    """What the compiled functions return, by name and by CLASS.NAME, from the stub: they have no annotations."""
    stub = Path(cp.__file__).parent / "_native.pyi"
    found = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef) and inner.returns is not None:
                name = f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name
                found[name] = ast.unparse(inner.returns)
    return found


def _returns(place: str, found: Any) -> bool:
    """True if a function returns something."""
    _, native, name = place.partition("counterpoint._native.")
    if native:
        return stubs()[name] != "None"
    return inspect.signature(found).return_annotation not in ("None", None, inspect.Signature.empty)


def _raises(found: Any) -> bool:
    """True if a function has a raise of its own. What it calls may raise more, which is documented by hand."""
    try:
        return re.search(r"^\s+raise \w", inspect.getsource(found), re.MULTILINE) is not None
    except (TypeError, OSError):
        return False


def test_every_public_callable_is_documented() -> None:
    listed = list(callables())
    assert len(listed) > 300
    wrong = [problem for place, found in listed for problem in problems(place, found)]
    assert not wrong, "\n".join(wrong)


def test_gaps_in_documentation_are_found() -> None:
    def bare(x: int) -> int:
        return x

    def partly(x: int, y: int) -> int:
        """Adds.

        Parameters
        ----------
        x
            A number.
        """
        if x > y:
            raise ValueError
        return x + y

    assert problems("bare", bare) == ["bare: no docstring"]
    assert [one.partition(": ")[2].split()[0] for one in problems("partly", partly)] == ["parameters", "no", "no"]


def test_exceptions_are_a_tree() -> None:
    from counterpoint import errors
    from counterpoint.integrations.dp_accounting import UnsupportedEventError

    all_ = [getattr(errors, name) for name in errors.__all__]
    for error in [*all_, UnsupportedEventError]:
        assert issubclass(error, cp.CounterpointError) and error.__name__.endswith("Error")
        # One parent here: a tree.
        assert len([base for base in error.__bases__ if issubclass(base, cp.CounterpointError)]) == (error is not cp.CounterpointError)
    top = {name for name in cp.__all__ if inspect.isclass(getattr(cp, name)) and issubclass(getattr(cp, name), Exception)}
    assert top == {"CounterpointError"} | {error.__name__ for error in cp.CounterpointError.__subclasses__()}


def test_names_stand_for_one_thing() -> None:
    """A public name means the same in every public module, but for functions that adapt another library."""
    meanings: dict[str, set[Any]] = {}
    for module in modules():
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, ModuleType):
                meanings.setdefault(name, set()).add(found if found.__hash__ else id(found))
    adapters = {"compose", "mechanism", "adjacency", "mechanisms"}
    assert {name for name, found in meanings.items() if len(found) > 1} <= adapters


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (cp, "Refused", cp.errors.RefusedError),
        (cp, "InvalidArgument", cp.InvalidArgumentError),
        (cp, "Planned", cp.PlannedStudy),
        (cp, "Session", cp.RemoteSession),
        (cp.errors, "Undecided", cp.errors.UndecidedError),
        (cp.noise, "Exponential", cp.noise.ExponentialSampler),
        (cp.noise, "Keyed", cp.noise.KeyedData),
        (cp.sessions, "SparseVector", cp.sessions.SparseVectorSpec),
        (cp.sessions, "Own", cp.sessions.CustomMechanism),
    ],
)
def test_old_names_warn(module: ModuleType, old: str, new: object) -> None:
    with pytest.warns(DeprecationWarning, match=rf"\.{old} is now "):
        assert getattr(module, old) is new
    assert old not in module.__all__


def test_every_old_name_is_found() -> None:
    for name in [*MODULES, "counterpoint.answers"]:
        module = importlib.import_module(name)
        for old in getattr(module, "RENAMED", {}):
            with pytest.warns(DeprecationWarning):
                assert getattr(module, old) is not None
        with pytest.raises(AttributeError, match="no attribute"):
            module.NoSuchName  # noqa: B018
