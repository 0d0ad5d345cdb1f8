"""Additive noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgumentError
from ._values import NUMBERS, WHOLE, as_array, as_words, cut, is_array, is_number, is_whole, listed, shaped
from .reply import Reply

if TYPE_CHECKING:
    from .._native import Mechanism

__all__ = ["Law", "discrete_gaussian", "gaussian", "geometric", "laplace", "staircase"]

# Noise of a larger scale, in steps, does not go into an array of 64-bit numbers.
MOST_SCALE = 2.0**50


class Law:
    """Additive noise for numbers that one person moves by at most a sensitivity, for which the caller vouches.

    Made by :func:`geometric`, :func:`discrete_gaussian`, :func:`laplace`, :func:`gaussian` and :func:`staircase`.
    """

    __slots__ = ("_native", "_scale", "_whole")

    def __init__(self, native: _native.Noise, whole: bool, scale: float) -> None:
        self._native = native
        self._whole = whole
        self._scale = scale

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that one release is charged as."""
        return self._native.charged(1)[0]

    @property
    def grid(self) -> float:
        """The step that answers are multiples of: a power of two."""
        return self._native.step

    @property
    def sensitivity(self) -> int:
        """The largest number of grid steps that one person moves a number."""
        return self._native.sensitivity

    def half_width(self, confidence: float = 0.95) -> float:
        """The half-width of the noise: the least multiple of the grid that the noise does not exceed with the confidence.

        Parameters
        ----------
        confidence
            The probability.

        Returns
        -------
        float
            The half-width.
        """
        return self._native.half_width(confidence)

    def expected_error(self) -> float:
        """The mean distance between an answer with noise and without.

        Returns
        -------
        float
            The distance.
        """
        return self._native.expected_error()

    def release(self, values: Any) -> Reply:
        """Adds fresh noise to values, **each a release of its own**.

        Geometric and discrete Gaussian noise is for whole numbers, and gives whole numbers, exactly; in an array of
        64-bit integers, which cuts larger results. Other noise gives floats: values are rounded to the grid first,
        whole numbers as whole numbers.

        Parameters
        ----------
        values
            A number, a list (also of lists) or an array of any shape.

        Returns
        -------
        Reply
            The noisy values in the same shape.

        Raises
        ------
        TypeError
            A value's type is not kept exactly.
        """
        value, count = self._drawn("values", values)
        return Reply(value, self._native.charged(count), lambda confidence: self.half_width(confidence))

    def _drawn(self, argument: str, values: Any) -> tuple[Any, int]:
        legal = WHOLE if self._whole else NUMBERS
        if is_array(values):
            given = as_array(argument, values, "iu" if self._whole else "iuf", legal)
            drawn = self._packed(given)
            return (drawn[()] if given.shape == () else drawn), given.size
        if not isinstance(values, (list, tuple)):
            (value,), _ = self._drawn_list(argument, [values])
            return value, 1
        if any(isinstance(item, (list, tuple)) or is_array(item) for item in values):
            parts = [self._drawn(f"{argument}[{index}]", item) for index, item in enumerate(values)]
            return [value for value, _ in parts], sum(count for _, count in parts)
        return self._drawn_list(argument, values)

    def _drawn_list(self, argument: str, values: Any) -> tuple[list[Any], int]:
        if self._whole:
            items = listed(argument, values, WHOLE, is_whole)
            return list(self._native.add([cut(item) for item in items])), len(items)
        items = listed(argument, values, NUMBERS, is_number)
        if all(map(is_whole, items)):
            return list(self._native.release_whole([cut(item) for item in items])), len(items)
        if any(map(is_whole, items)):
            # Item by item: a large whole number is not exact as a float.
            return [self._one(item) for item in items], len(items)
        from array import array

        drawn = array("d")
        drawn.frombytes(self._native.release_packed(array("d", items).tobytes()))
        return drawn.tolist(), len(items)

    def _one(self, item: int | float) -> float:
        if is_whole(item):
            return self._native.release_whole([cut(int(item))])[0]
        from array import array

        return array("d", self._native.release_packed(array("d", [item]).tobytes()))[0]

    def _packed(self, given: Any) -> Any:
        import numpy as np

        if self._whole:
            if self._scale > MOST_SCALE:
                raise InvalidArgumentError(f"the noise's scale is {self._scale}; legal: at most 2^50 with an array, or a list")
            return shaped(self._native.add_packed(as_words(given)), "int64", given.shape)
        if given.dtype.kind == "f":
            data = np.ascontiguousarray(given, dtype=np.float64).tobytes()
            return shaped(self._native.release_packed(data), "float64", given.shape)
        return shaped(self._native.release_whole_packed(as_words(given)), "float64", given.shape)

    def __repr__(self) -> str:
        return f"Law({self.mechanism!r}, grid={self.grid!r})"


def geometric(scale: float, sensitivity: int = 1) -> Law:
    """Geometric (discrete Laplace) noise on whole numbers, with masses proportional to e^(-|x| / scale).

    Parameters
    ----------
    scale
        The scale of the noise.
    sensitivity
        The most that one person moves a value.

    Returns
    -------
    Law
        The noise, which ``release`` adds to values.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """
    return Law(_native.Noise.geometric(scale, sensitivity), True, float(scale))


def discrete_gaussian(sigma: float, sensitivity: int = 1) -> Law:
    """Discrete Gaussian noise on whole numbers, with masses proportional to e^(-x^2 / 2 sigma^2).

    Parameters
    ----------
    sigma
        The parameter sigma of the noise.
    sensitivity
        The most that one person moves a value.

    Returns
    -------
    Law
        The noise, which ``release`` adds to values.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """
    return Law(_native.Noise.discrete_gaussian(sigma, sensitivity), True, float(sigma))


def _step(sensitivity: Any, grid: Any) -> Any:
    """The given grid, or about a thousandth of the sensitivity."""
    if grid is not None:
        return grid
    legal = isinstance(sensitivity, (int, float)) and not isinstance(sensitivity, bool)
    # An illegal sensitivity is reported as such, not as an illegal grid.
    return sensitivity / 1024 if legal and 1e-200 < sensitivity < 1e200 else 1.0


def laplace(scale: float, sensitivity: float = 1.0, grid: float | None = None) -> Law:
    """Laplace noise on a grid: discrete Laplace noise in steps, with the sensitivity rounded up to whole steps.

    Parameters
    ----------
    scale
        The scale of the noise.
    sensitivity
        The most that one person moves a value.
    grid
        An upper bound on the grid's step, which is the largest power of two below; a 1024th of the sensitivity if None.

    Returns
    -------
    Law
        The noise, which ``release`` adds to values.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """
    return Law(_native.Noise.laplace(scale, sensitivity, _step(sensitivity, grid)), False, math.nan)


def gaussian(sigma: float, sensitivity: float = 1.0, grid: float | None = None) -> Law:
    """Gaussian noise on a grid: discrete Gaussian noise in steps, with the sensitivity rounded up to whole steps.

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    sensitivity
        The most that one person moves a value.
    grid
        An upper bound on the grid's step, which is the largest power of two below; a 1024th of the sensitivity if None.

    Returns
    -------
    Law
        The noise, which ``release`` adds to values.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """
    return Law(_native.Noise.gaussian(sigma, sensitivity, _step(sensitivity, grid)), False, math.nan)


def staircase(epsilon: float, gamma: float | None = None, sensitivity: float = 1.0, grid: float | None = None) -> Law:
    """Staircase noise (Geng and Viswanath) on a grid.

    Parameters
    ----------
    epsilon
        The epsilon of one release.
    gamma
        The share of a step that lies higher; the best share if None.
    sensitivity
        The most that one person moves a value.
    grid
        An upper bound on the grid's step, which is the largest power of two below; a 1024th of the sensitivity if None.

    Returns
    -------
    Law
        The noise, which ``release`` adds to values.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """
    return Law(_native.Noise.staircase(epsilon, gamma, sensitivity, _step(sensitivity, grid)), False, math.nan)
