"""Samples from a seed, by arithmetic that is exact in every language, for the generators of golden files."""

import math

import numpy as np

MASK = (1 << 64) - 1
SHAPES = ["verdicts", "bounded", "skewed", "ties", "constant"]


class Random:
    """xoshiro256++, seeded by splitmix64, as in src/random.rs."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ (z >> 31))

    def next(self):
        a, b, c, d = self.state
        rotate = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
        result = (rotate((a + d) & MASK, 23) + a) & MASK
        c ^= a
        d ^= b
        self.state = [a ^ d, b ^ c, c ^ ((b << 17) & MASK), rotate(d, 45)]
        return result

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def indices(self, n):
        """A resample of n indices, two from each number."""
        drawn = []
        while len(drawn) < n:
            number = self.next()
            drawn += [((number >> 32) * n) >> 32, ((number & 0xFFFFFFFF) * n) >> 32]
        return drawn[:n]


def sample(shape, n, seed):
    """Differences of n cases. The same arithmetic is in tests/it/golden_statistics.rs."""
    random = Random(seed)

    def value():
        u = random.uniform()
        if shape == "verdicts":
            return 1.0 if u < 0.3 else -1.0 if u < 0.5 else 0.0
        if shape == "bounded":
            return u - 0.375
        if shape == "skewed":
            return u * u * u * u * u * u * u * u + u / 16.0 - 0.09375
        if shape == "ties":
            return (math.floor(u * 7.0) - 2.0) / 4.0
        return 0.25

    return np.array([value() for _ in range(n)])
