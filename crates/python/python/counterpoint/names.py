"""The names that arguments may have, as types: a checker knows a misspelt one."""

from __future__ import annotations

from typing import Literal

__all__ = ["Adjacency", "Direction", "Filter", "Format", "Outcome", "Route", "Side", "Theorem", "Unknown"]

Adjacency = Literal["add-remove", "replace"]
"""What neighbouring data sets are: one has one person more, or one person's data differ."""

Unknown = Literal["sigma", "scale", "epsilon", "count"]
"""What a calibration may look for."""

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
    "lattice",
    "convolution",
    "renyi",
    "precise",
]
"""How an answer is computed. Any formula will do where "closed" is asked for, and any contour for "contour"."""

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
"""What licenses an answer."""

Filter = Literal["sums", "renyi", "zcdp", "gdp"]
"""What an open account adds up."""

Format = Literal["toml", "json"]
"""What a plan file is written in."""

Outcome = Literal["reserved", "pending", "committed"]
"""What became of a reservation."""

Direction = Literal["remove", "add"]
"""Which of two neighbouring data sets the loss is drawn with."""

Side = Literal["upper", "lower"]
"""The end of a bracket that is safe to take for the number."""

Style = Literal["laplace", "gaussian", "staircase", "exponential"]
"""The kinds of noise that a query is answered with."""
