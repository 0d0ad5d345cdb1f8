"""Noisy answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._native import Mechanism

__all__ = ["Reply"]


class Reply:
    """A noisy answer that may be published. Made by ``release`` and ``run``.

    Attributes
    ----------
    value
        The noisy value, in the shape of the input.
    releases
        The releases to charge a plan or a ledger with.
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
        """The half-width of each number, whatever the data are, computed from released numbers alone.

        Parameters
        ----------
        confidence
            The probability with which each number is no further from the value without noise.

        Returns
        -------
        float or None
            The half-width; None if it is unknown: for choices, cumulative counts, covariances and regressions (a
            :class:`Measurement` has the half-width for a number of rows).
        """
        return self._width(confidence)

    def intervals(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """A confidence interval for each number without noise.

        Parameters
        ----------
        confidence
            The probability with which each interval holds.

        Returns
        -------
        list of (float, float)
            The ends; infinite for coefficients of predictors that may be collinear. Empty for choices.
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
