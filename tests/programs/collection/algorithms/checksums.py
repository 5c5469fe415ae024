"""Checksums and generators of random numbers: integers, shifts, and what wraps around."""

import numpy as np

from collection.numpy_program import Program


def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur = 0xFF & b
        for _ in range(8):
            if (crc & 0x0001) ^ (cur & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def crc32_by_table(data):
    table = np.zeros(256, dtype=np.uint32)
    for i in range(256):
        value = np.uint32(i)
        for _ in range(8):
            if value & 1:
                value = (value >> np.uint32(1)) ^ np.uint32(0xEDB88320)
            else:
                value = value >> np.uint32(1)
        table[i] = value
    crc = np.uint32(0xFFFFFFFF)
    for k in range(len(data)):
        crc = table[(crc ^ data[k]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


def adler32(data):
    a, b = 1, 0
    for k in range(len(data)):
        a = (a + int(data[k])) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def fletcher16(data):
    """As sums over the whole array instead of a loop."""
    values = data.astype(np.int64)
    first = np.cumsum(values) % 255
    second = np.cumsum(first) % 255
    return second[-1] * 256 + first[-1]


def xorshift(seed, count):
    """Marsaglia's generator of 64 bits; wraps around, as unsigned integers do."""
    out = np.empty(count, dtype=np.uint64)
    state = np.uint64(seed)
    for i in range(count):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        out[i] = state
    return out


def bits_set(words):
    """How many bits are set in each word, in the way of counting that adds neighbours."""
    x = words.copy()
    x = x - ((x >> np.uint32(1)) & np.uint32(0x55555555))
    x = (x & np.uint32(0x33333333)) + ((x >> np.uint32(2)) & np.uint32(0x33333333))
    x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    x = x + (x >> np.uint32(8))
    x = x + (x >> np.uint32(16))
    return x & np.uint32(0x3F)


def luhn(digits):
    """The check digit of numbers such as those of bank cards."""
    total = 0
    for place, digit in enumerate(digits[::-1]):
        if place % 2 == 0:
            doubled = 2 * digit
            total += doubled - 9 if doubled > 9 else doubled
        else:
            total += digit
    return (10 - total % 10) % 10


def quarters_of_circle(seed, count):
    """Pi by darts thrown with a linear congruential generator."""
    state = seed
    inside = 0
    for _ in range(count):
        state = (1664525 * state + 1013904223) % 4294967296
        x = state / 4294967296
        state = (1664525 * state + 1013904223) % 4294967296
        y = state / 4294967296
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / count


def _bytes(random, n):
    return (random.integers(0, 256, 4 * n, dtype=np.uint8),)


PROGRAMS = [
    Program(crc16, _bytes),
    Program(crc32_by_table, _bytes),
    Program(adler32, _bytes),
    Program(fletcher16, _bytes),
    Program(xorshift, lambda random, n: (88172645463325252, 4 * n)),
    Program(bits_set, lambda random, n: (random.integers(0, 2**32, n, dtype=np.uint32),)),
    Program(luhn, lambda random, n: (random.integers(0, 10, n),)),
    Program(quarters_of_circle, lambda random, n: (n, 20 * n)),
]
