"""Brackets of many numbers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import Bracket
from .errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

__all__ = ["Brackets"]


# What is aimed at where no tolerance is given.
AIM = 1e-6


class Brackets:
    """Arrays ``lower`` and ``upper`` with the truths between them, rounding included.

    As an array it is its safe side: ``upper`` for what something costs, ``lower`` for an
    attacker's least error.
    """

    __slots__ = ("lower", "safe", "tolerance", "upper")

    lower: Doubles
    upper: Doubles
    safe: str
    tolerance: float

    def __init__(
        self, lower: Doubles, upper: Doubles, safe: str = "upper", tolerance: float | None = None
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.safe = safe
        self.tolerance = AIM if tolerance is None else tolerance

    @property
    def relative_width(self) -> Doubles:
        """The widths, relative to the upper ends; zero where both ends are the same."""
        import numpy as np

        same = self.lower == self.upper
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(same, 0.0, (self.upper - self.lower) / self.upper)

    @property
    def wide(self) -> Any:
        """Where a bracket is wider, relatively, than was promised or aimed at."""
        return self.relative_width > self.tolerance

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lower.shape

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, index: Any) -> Bracket | Brackets:
        lower, upper = self.lower[index], self.upper[index]
        if getattr(lower, "shape", ()) == ():
            return Bracket(float(lower), float(upper))
        return Brackets(lower, upper, self.safe, self.tolerance)

    def __iter__(self) -> Iterator[Bracket | Brackets]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        side = self.upper if self.safe == "upper" else self.lower
        return np.array(side, dtype=dtype) if copy is not False else np.asarray(side, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Brackets):
            return NotImplemented
        return np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Brackets(lower={self.lower!r}, upper={self.upper!r})"


def is_scalar(value: object) -> bool:
    """Whether a value is one number, rather than an array of them."""
    if isinstance(value, (float, int)):
        return True
    return not hasattr(value, "__len__") or getattr(value, "shape", None) == ()


def packed(argument: str, values: object) -> tuple[bytes, tuple[int, ...]]:
    """An array's doubles and its shape."""
    import numpy as np

    try:
        given = np.asarray(values)
        if given.dtype.kind not in "fiu" and given.size:
            raise TypeError
    except (TypeError, ValueError):
        kind = type(values).__name__
        raise TypeError(f"{argument} is of type {kind}; legal: a number or an array of numbers") from None
    return given.astype(np.float64).tobytes(), given.shape


def unpacked(
    ends: tuple[bytes, bytes],
    shape: tuple[int, ...],
    safe: str = "upper",
    tolerance: float | None = None,
) -> Brackets:
    """The brackets that the native side packed."""
    import numpy as np

    lower, upper = (np.frombuffer(end, dtype=np.float64).reshape(shape) for end in ends)
    return Brackets(lower, upper, safe, tolerance)


def points(ends: tuple[bytes, bytes]) -> Doubles:
    """Points in rows of two."""
    import numpy as np

    return np.column_stack([np.frombuffer(end, dtype=np.float64) for end in ends])


def one_question(delta: object, epsilon: object) -> None:
    """Exactly one of the two is given."""
    if (delta is None) == (epsilon is None):
        raise InvalidArgument("the question is not clear; legal: delta or epsilon, one of them")
