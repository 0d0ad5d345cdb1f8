"""The names that arguments may have, as types: a checker knows a misspelt one."""

from __future__ import annotations

from typing import Literal

__all__ = ["Adjacency", "Direction", "Filter", "Format", "Outcome", "Route", "Side", "Theorem", "Unknown"]

Adjacency = Literal["add-remove", "replace"]
"""The neighbouring relations: one data set has one more person, or one person's data differ."""

Unknown = Literal["sigma", "scale", "epsilon", "count"]
"""The numbers that a calibration can find."""

Route = Literal[
    "closed",
    "leaks",
    "near-largest-loss",
    "small-mu",
    "splines",
    "truncated-powers",
    "equal",
    "outcomes",
    "halves",
    "contour",
    "blurred-contour",
    "layered-contour",
    "graded-lists",
    "lattice",
    "convolution",
    "renyi",
    "precise",
]
"""The methods that compute answers. "closed" permits any formula, and "contour" any contour."""

Theorem = Literal[
    "basic",
    "advanced",
    "strong",
    "kov-closed-form",
    "kov-simplified",
    "mv-approximation",
    "optimal",
    "dominating-pairs",
    "renyi",
    "split",
    "sums-filter",
    "renyi-filter",
    "zcdp-filter",
    "gdp-filter",
    "renyi-odometer",
]
"""The theorems that answers rest on."""

Filter = Literal["sums", "renyi", "zcdp", "gdp"]
"""The quantities that an account can add up."""

Format = Literal["toml", "json"]
"""The formats of plan files."""

Outcome = Literal["reserved", "pending", "committed"]
"""The outcomes of a reservation."""

Direction = Literal["remove", "add"]
"""The directions of a privacy loss: the person's data are removed, or added."""

Side = Literal["upper", "lower"]
"""The end of a bracket that is safe to use as the number."""

Style = Literal["laplace", "gaussian", "staircase", "exponential"]
"""The kinds of noise for queries."""
