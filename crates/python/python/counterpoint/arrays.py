"""Brackets of many numbers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import Bracket
from .errors import InvalidArgumentError, UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .names import Side

    Doubles = NDArray[np.float64]
    Truths = NDArray[np.bool_]

__all__ = ["Brackets"]


# The relative width that is aimed at if no tolerance is given.
AIM = 1e-6


# NumPy's comparisons, and the same from the other side.
MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


class Brackets:
    """Arrays ``lower`` and ``upper`` with the true values between them, rounding included.

    As a NumPy array it is its safe side: ``upper`` for costs, ``lower`` for an attacker's least error. Comparisons with
    numbers or arrays compare the true values, element by element; they raise
    :class:`counterpoint.errors.UndecidedError` if one is not decided.

    Parameters
    ----------
    lower
        Numbers that are never above the true values.
    upper
        Numbers that are never below the true values.
    safe
        The side that stands for the numbers: "upper" or "lower".
    tolerance
        The relative width that was promised or aimed at; 1e-6 if None.
    """

    __slots__ = ("lower", "safe", "tolerance", "upper")

    lower: Doubles
    upper: Doubles
    safe: Side
    tolerance: float

    def __init__(self, lower: Doubles, upper: Doubles, safe: Side = "upper", tolerance: float | None = None) -> None:
        self.lower = lower
        self.upper = upper
        self.safe = safe
        self.tolerance = AIM if tolerance is None else tolerance

    @property
    def relative_width(self) -> Doubles:
        """The widths relative to the upper ends; zero where both ends are equal."""
        import numpy as np

        same = self.lower == self.upper
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(same, 0.0, (self.upper - self.lower) / self.upper)

    @property
    def wide(self) -> Any:
        """True where a bracket is relatively wider than promised or aimed at."""
        return self.relative_width > self.tolerance

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both arrays."""
        return self.lower.shape

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, index: Any) -> Bracket | Brackets:
        lower, upper = self.lower[index], self.upper[index]
        if getattr(lower, "shape", ()) == ():
            return Bracket(float(lower), float(upper), self.safe)
        return Brackets(lower, upper, self.safe, self.tolerance)

    def __iter__(self) -> Iterator[Bracket | Brackets]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        side = self.upper if self.safe == "upper" else self.lower
        return np.array(side, dtype=dtype) if copy is not False else np.asarray(side, dtype=dtype)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compares where NumPy's arrays defer comparisons, and stands for the safe side in every other operation."""
        import numpy as np

        if function.__name__ in MIRRORED and method == "__call__" and not options:
            first, second = inputs
            name, other = (function.__name__, second) if first is self else (MIRRORED[function.__name__], first)
            return getattr(self, f"__{name[0]}{'e' if name.endswith('equal') else 't'}__")(other)
        taken = (np.asarray(one) if isinstance(one, Brackets) else one for one in inputs)
        return getattr(function, method)(*taken, **options)

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Brackets):
            return NotImplemented
        return np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    __hash__ = None  # type: ignore[assignment]

    def __le__(self, other: Brackets | Bracket | ArrayLike) -> Truths:
        lower, upper = _ends(other)
        return _decided(self.upper <= lower, self.lower > upper, "<=")

    def __lt__(self, other: Brackets | Bracket | ArrayLike) -> Truths:
        lower, upper = _ends(other)
        return _decided(self.upper < lower, self.lower >= upper, "<")

    def __ge__(self, other: Brackets | Bracket | ArrayLike) -> Truths:
        lower, upper = _ends(other)
        return _decided(self.lower >= upper, self.upper < lower, ">=")

    def __gt__(self, other: Brackets | Bracket | ArrayLike) -> Truths:
        lower, upper = _ends(other)
        return _decided(self.lower > upper, self.upper <= lower, ">")

    def _repr_html_(self) -> str:
        from ._html import table

        ends = [str(Bracket(float(low), float(high))) for low, high in zip(self.lower.flat[:20], self.upper.flat[:20])]
        rows = [[end] for end in ends]
        if self.lower.size > 20:
            rows.append([f"{self.lower.size - 20} more"])
        return table([f"between; {self.safe} end as an array"], rows, "")

    def __repr__(self) -> str:
        return f"Brackets(lower={self.lower!r}, upper={self.upper!r})"


def _ends(other: Any) -> tuple[Any, Any]:
    """The lower and the upper ends of the other operand."""
    import numpy as np

    if isinstance(other, (Brackets, Bracket)):
        return other.lower, other.upper
    data, shape = packed("the other operand", other)
    numbers = np.frombuffer(data, dtype=np.float64).reshape(shape)
    if np.isnan(numbers).any():
        raise InvalidArgumentError("brackets are compared with nan; legal: numbers")
    return numbers, numbers


def _decided(yes: Truths, no: Truths, sign: str) -> Truths:
    """Returns where the comparison holds, or raises if it is undecided somewhere."""
    import numpy as np

    yes, no = np.asarray(yes), np.asarray(no)
    open_ = np.argwhere(~(yes | no))
    if len(open_):
        place = ", ".join(map(str, open_[0]))
        legal = "a smaller tolerance, or .upper (never below the truth) and .lower (never above it)"
        raise UndecidedError(f"[{place}] {sign} is undecided; legal: {legal}")
    return yes


def is_scalar(value: object) -> bool:
    """True if a value is one number rather than an array."""
    if isinstance(value, (float, int)):
        return True
    return not hasattr(value, "__len__") or getattr(value, "shape", None) == ()


def packed(argument: str, values: object) -> tuple[bytes, tuple[int, ...]]:
    """Packs an array's doubles; also returns its shape."""
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
    safe: Side = "upper",
    tolerance: float | None = None,
) -> Brackets:
    """Makes brackets of the ends that the native module packed."""
    import numpy as np

    lower, upper = (np.frombuffer(end, dtype=np.float64).reshape(shape) for end in ends)
    return Brackets(lower, upper, safe, tolerance)


def points(ends: tuple[bytes, bytes]) -> Doubles:
    """Returns points as rows of two numbers."""
    import numpy as np

    return np.column_stack([np.frombuffer(end, dtype=np.float64) for end in ends])


def one_question(delta: object, epsilon: object) -> None:
    """Raises unless exactly one of delta and epsilon is given."""
    if (delta is None) == (epsilon is None):
        raise InvalidArgumentError("the question is not clear; legal: delta or epsilon, one of them")
