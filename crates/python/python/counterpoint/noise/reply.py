"""What comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._native import Mechanism

__all__ = ["Reply"]


class Reply:
    """An answer that may be published, with how accurate it is and what it costs.

    ``value`` has the shape of what was given; ``releases`` is what a plan or a ledger is charged with.
    """

    __slots__ = ("_intervals", "_width", "releases", "value")

    value: Any
    releases: tuple[Mechanism, ...]

    def __init__(
        self,
        value: Any,
        releases: tuple[Mechanism, ...],
        width: Callable[[float], float | None],
        intervals: Callable[[float], list[tuple[float, float]]] | None = None,
    ) -> None:
        self.value = value
        self.releases = releases
        self._width = width
        self._intervals = intervals

    def accuracy(self, confidence: float = 0.95) -> float | None:
        """Each number is within this of what it were without noise, with at least this probability, whatever the data are.

        It is said from what is released alone. None where nothing is known so: of choices, cumulative counts,
        covariances and regressions (a :class:`Measurement` says what holds for so many rows).
        """
        return self._width(confidence)

    def intervals(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """For each number where it were without noise; infinite for coefficients of predictors that may be collinear.

        Empty for choices.
        """
        if self._intervals is not None:
            return self._intervals(confidence)
        width = self._width(confidence)
        return [] if width is None else [(x - width, x + width) for x in _flat(self.value)]

    def __repr__(self) -> str:
        return f"Reply({self.value!r}, releases={list(self.releases)!r})"


def _flat(value: Any) -> list[float]:
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _flat(item)]
    return [float(x) for x in value.ravel()] if hasattr(value, "ravel") else [float(value)]
