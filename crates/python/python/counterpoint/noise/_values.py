"""Numbers, lists and arrays as they are given: types are checked, values never."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Whole numbers beyond these are cut.
LEAST, MOST = -(2**127), 2**127 - 1
LEAST_WORD, MOST_WORD = -(2**63), 2**63 - 1

WHOLE = "a whole number, or a list or an array of them, of at most 64 bits"
NUMBERS = "a number, or a list or an array of numbers, each a float or a whole number of at most 64 bits"


def is_array(values: Any) -> bool:
    return hasattr(values, "__array__") or hasattr(values, "__array_interface__")


def as_array(argument: str, values: Any, kinds: str, legal: str) -> Any:
    """An array whose numbers are of these kinds, none wider than is kept exactly."""
    import numpy as np

    given = np.asarray(values)
    wide = given.dtype.itemsize > 8 or given.dtype == np.uint64
    if given.dtype.kind not in kinds or wide:
        raise TypeError(f"{argument} is of type {given.dtype}; legal: {legal}")
    return given


def as_words(given: Any) -> bytes:
    import numpy as np

    data: bytes = np.ascontiguousarray(given, dtype=np.int64).tobytes()
    return data


def shaped(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def listed(argument: str, values: Any, legal: str, is_legal: Callable[[Any], bool]) -> list[Any]:
    """The items of a list, all of legal types."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{argument} is of type {type(values).__name__}; legal: {legal}")
    for index, item in enumerate(values):
        if not is_legal(item):
            raise TypeError(f"{argument}[{index}] is of type {type(item).__name__}; legal: {legal}")
    return list(values)


def is_whole(item: Any) -> bool:
    return isinstance(item, int) and not isinstance(item, bool)


def is_number(item: Any) -> bool:
    return is_whole(item) or isinstance(item, float)


def cut(item: int) -> int:
    return max(LEAST, min(int(item), MOST))


def cut_word(item: int) -> int:
    return max(LEAST_WORD, min(int(item), MOST_WORD))


def named(argument: str, values: Any) -> list[str]:
    """The person or key of each row: all texts, or all whole numbers, so that equal values have equal texts."""
    items = values.tolist() if is_array(values) else list(values)
    for kind in (str, int):
        if all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
            return [str(item) for item in items]
    kinds = ", ".join(sorted({type(item).__name__ for item in items}))
    raise TypeError(f"{argument} has items of type {kinds}; legal: all texts, or all whole numbers")
