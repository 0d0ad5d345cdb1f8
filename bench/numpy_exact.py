"""Twenty lines of numpy: equal guarantees by the exact formula, in f64.

Murtagh-Vadhan Theorem 1.4, summed in the log domain and bisected. This is what a
careful user would write instead of installing anything. No error bound comes with it.
"""

import numpy as np
from scipy.special import gammaln


def epsilon_equal(epsilon, leak, count, delta):
    """The epsilon of `count` (epsilon, leak)-DP releases at `delta`."""
    kept = count * np.log1p(-leak)
    pure = -np.expm1(np.log1p(-delta) - kept)  # 1 - (1 - delta) / (1 - leak)^count
    if pure < 0:
        return np.inf
    minus = np.arange(count + 1)  # how many answers point the other way
    loss = (count - 2 * minus) * epsilon  # descending
    log_mass = (
        gammaln(count + 1) - gammaln(minus + 1) - gammaln(count - minus + 1)
        + (count - minus) * epsilon - count * np.logaddexp(0, epsilon)
    )

    def exceeds(e):  # is the profile at e above the target?
        above = np.searchsorted(-loss, -e)  # losses strictly above e come first
        if above == 0:
            return False
        terms = log_mass[:above] + np.log(-np.expm1(e - loss[:above]))
        return np.logaddexp.reduce(terms) > np.log(pure) if pure > 0 else True

    low, high = 0.0, loss[0]
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
