"""Pictures, through matplotlib, which is imported only here."""

from __future__ import annotations

from typing import Any


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1]


def profile(plan: Any, *, ax: Any = None, points: int = 200, **style: Any) -> Any:
    """Draws delta against epsilon, from 0 to where delta is about 1e-12, on a logarithmic scale."""
    import numpy as np

    ax = _axes(ax)
    most = plan.epsilon(np.array([1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5])).upper
    reach = most[np.isfinite(most)]
    epsilons = np.linspace(0.0, max(float(reach[0]) if len(reach) else 1.0, 1e-3), points)
    deltas = plan.delta(epsilons, tolerance=1e-3)
    positive = deltas.upper > 0
    ax.plot(epsilons[positive], deltas.upper[positive], **{"label": "certified upper bound", **style})
    ax.fill_between(epsilons[positive], deltas.lower[positive], deltas.upper[positive], alpha=0.3)
    ax.set(xlabel="epsilon", ylabel="delta", yscale="log")
    return ax


def region(found: Any, *, ax: Any = None, **style: Any) -> Any:
    """Draws errors on the axes of Kairouz, Oh and Viswanath: no test has errors below the curve."""
    ax = _axes(ax)
    outer, inner = found.outer, found.inner
    ax.plot(outer[:, 1], outer[:, 0], **{"label": "least errors", **style})
    ax.plot(inner[:, 1], inner[:, 0], linewidth=0.5, color="grey")
    ax.plot([0, 1], [1, 0], linestyle=":", color="grey", label="blind guesses")
    misses, alarms = "probability of a missed detection", "probability of a false alarm"
    ax.set(xlabel=misses, ylabel=alarms, xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return ax
