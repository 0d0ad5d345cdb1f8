"""The classes of mechanisms against the catalogue that plan files and ledgers are read by."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import counterpoint as cp
from counterpoint._native import kinds
from counterpoint.mechanisms import CLASSES

TYPES = {"Real": "float", "Whole": "int", "List": "list[float]", "Word": "str", "Releases": "a property"}


def default(field: dict[str, Any], replaced: bool) -> object:
    """What a field's argument is if it is not given; nothing where it has to be."""
    text = field["default"]
    if field["presence"] == "Needed" and text is not None:
        if field["shape"] == "Word":
            return text
        return int(text) if field["shape"] == "Whole" else float(text)
    return None if field["presence"] == "Optional" or replaced else inspect.Parameter.empty


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind["name"])
def test_classes_are_as_the_catalogue_has_them(kind: dict[str, Any]) -> None:
    cls = CLASSES[kind["name"]]
    assert cls.__name__ == kind["class"] and getattr(cp, kind["class"]) is cls
    doc = " ".join((inspect.getdoc(cls) or "").split()).replace("``", "`")
    assert doc.startswith(kind["meaning"])
    fields = [field for field in kind["fields"] if field["presence"] != "Ignored"]
    instead = [field for field in kind["instead"] if field["shape"] != "File"]
    # Those that have to be given come first.
    fields.sort(key=lambda field: field["presence"] != "Needed" or field["default"] is not None)
    found = {name: (one.kind, one.default) for name, one in inspect.signature(cls).parameters.items()}
    own = {
        field["name"]: (inspect.Parameter.POSITIONAL_OR_KEYWORD, default(field, bool(instead) and place == 0))
        for place, field in enumerate(fields)
    }
    named = [field["name"] for field in instead] + kind["keywords"]
    assert list(found.items()) == [*own.items(), *((name, (inspect.Parameter.KEYWORD_ONLY, None)) for name in named)]
    for field in fields:
        of = vars(cls)["__annotations__"].get(field["name"])
        assert of == TYPES[field["shape"]] or isinstance(vars(cls).get(field["name"]), property), field["name"]


def test_arguments_that_no_class_has_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Gaussian.__new__\(\) got an unexpected keyword argument 'scale'"):
        cp.Gaussian(1.0, scale=2.0)  # type: ignore[call-arg]
    # A plan file may say more of a release than a mechanism is.
    with pytest.raises(TypeError, match="'also'"):
        cp.Gaussian(1.0, also=[])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'rate'"):
        cp.ZCDP(1.0, rate=0.5)  # type: ignore[call-arg]
