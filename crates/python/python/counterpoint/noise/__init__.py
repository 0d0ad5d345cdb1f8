"""Noise that is drawn, exactly: what runs is what is charged.

Laws (:func:`geometric`, :func:`laplace`, :func:`gaussian`, ...) add noise to numbers, lists and NumPy arrays. The caller
vouches for the sensitivity; a :class:`Query` about :class:`Data` derives it. Either way the answer, how accurate it is
and what it costs come back as one :class:`Reply`:

>>> from counterpoint import compose, noise
>>> reply = noise.geometric(scale=2.0).release([120, 87])
>>> len(reply.value), reply.accuracy(0.95)
(2, 6.0)
>>> reply.releases
(Geometric(scale=2.0, sensitivity=1, count=2),)
>>> float(compose(reply.releases).epsilon(0)) < 1.0000001
True

Samplers compute in whole numbers, with random words of the operating system, asked anew for each draw: there is no seed,
and a forked process draws noise of its own. What is released lies on a grid that does not depend on the data. Nothing is
refused because of what the data are, as that would tell of them: what is no number is zero, and what is too large is cut.
"""

from .choices import (
    Exponential,
    LeakyResponse,
    RandomizedResponse,
    exponential,
    leaky_response,
    randomized_response,
)
from .data import Data, secret
from .keys import Keyed, KeyMeasurement, key_counts
from .laws import Law, discrete_gaussian, gaussian, geometric, laplace, staircase
from .queries import Measurement, Query, Recipe, measure
from .reply import Reply

__all__ = [
    "Data",
    "Exponential",
    "KeyMeasurement",
    "Keyed",
    "Law",
    "LeakyResponse",
    "Measurement",
    "Query",
    "RandomizedResponse",
    "Recipe",
    "Reply",
    "discrete_gaussian",
    "exponential",
    "gaussian",
    "geometric",
    "key_counts",
    "laplace",
    "leaky_response",
    "measure",
    "randomized_response",
    "secret",
    "staircase",
]
