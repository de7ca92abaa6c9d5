"""The mean of a measure at every mixture of two rankers, in exact fractions: one order per piece, each made anew."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np


def mean_at(direction, s, t, data, known, shares):
    """The mean where documents stand at a·s + b·t, (a, b) fractions; equal heights in row order."""
    a, b = direction
    kernel = known.kernel_tuple
    total = 0.0
    for q, share in enumerate(shares):
        if share == 0.0:
            continue
        documents = range(known.starts[q], known.starts[q + 1])
        ranked = sorted(documents, key=lambda d: (-(a * Fraction(s[d]) + b * Fraction(t[d])), d))
        total += share * kernel.value(known.worth[ranked].copy(), known.normalisers[q])
    return total


def crossings(s, t, starts):
    """Every α with 0 < α < 1 at which two documents of a query change places."""
    found = set()
    for first, last in itertools.pairwise(starts):
        for i, j in itertools.combinations(range(first, last), 2):
            ds, dt = Fraction(s[i]) - Fraction(s[j]), Fraction(t[i]) - Fraction(t[j])
            if ds * dt < 0:
                found.add(ds / (ds - dt))
    return sorted(found)


def pieces(s, t, data, known, shares):
    """(start, end, mean) of all pieces of α from 0 to 1 between crossings."""
    edges = [Fraction(0), *crossings(s, t, known.starts), Fraction(1)]
    result = []
    for low, high in itertools.pairwise(edges):
        middle = (low + high) / 2
        result.append((low, high, mean_at((1 - middle, middle), s, t, data, known, shares)))
    return result


def means_at(places, s, t, data, known, shares):
    """The means at some α, none of them a crossing."""
    return np.array([mean_at((1 - Fraction(x), Fraction(x)), s, t, data, known, shares) for x in places])
