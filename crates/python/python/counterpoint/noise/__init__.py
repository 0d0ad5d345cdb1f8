"""Exact noise: the samplers of the mechanisms that are charged.

Laws (:func:`geometric`, :func:`laplace`, :func:`gaussian`, ...) add noise to numbers, lists and NumPy arrays. The
caller vouches for the sensitivity; a :class:`Query` about :class:`Data` derives it. In both cases the answer, its
accuracy and its cost come back as one :class:`Reply`:

>>> from counterpoint import compose, noise
>>> reply = noise.geometric(scale=2.0).release([120, 87])
>>> len(reply.value), reply.accuracy(0.95)
(2, 6.0)
>>> reply.releases
(Geometric(scale=2.0, sensitivity=1, count=2),)
>>> float(compose(reply.releases).epsilon(0)) < 1.0000001
True

Samplers compute in whole numbers, with random words of the operating system for each draw: there is no seed, and a
forked process draws noise of its own. Released numbers lie on a grid that does not depend on the data. Nothing is
refused because of the data's values, since that would reveal them: values that are not numbers count as zero, and
values that are too large are cut.
"""

from typing import TYPE_CHECKING

from .._deprecated import renamed
from .choices import (
    ExponentialSampler,
    LeakyResponseSampler,
    RandomizedResponseSampler,
    exponential,
    leaky_response,
    randomized_response,
)
from .data import Data, secret
from .keys import KeyedData, KeyMeasurement, key_counts
from .laws import Law, discrete_gaussian, gaussian, geometric, laplace, staircase
from .queries import Measurement, Query, NoisyQuery, measure
from .reply import Reply

__all__ = [
    "Data",
    "ExponentialSampler",
    "KeyedData",
    "KeyMeasurement",
    "Law",
    "LeakyResponseSampler",
    "Measurement",
    "NoisyQuery",
    "Query",
    "RandomizedResponseSampler",
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

if not TYPE_CHECKING:
    RENAMED = {
        "Exponential": "ExponentialSampler",
        "Keyed": "KeyedData",
        "LeakyResponse": "LeakyResponseSampler",
        "RandomizedResponse": "RandomizedResponseSampler",
        "Recipe": "NoisyQuery",
    }
    __getattr__ = renamed(__name__, RENAMED)
