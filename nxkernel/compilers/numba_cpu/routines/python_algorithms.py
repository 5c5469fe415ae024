"""The algorithms of routine kernels as Python source, for display.

The kernels themselves are vectors and threads; these texts leave both out, and are not what is compiled.
"""

from __future__ import annotations

#: By kernel: of running totals, where `combine` is the sum, product or extreme of two values.
SCANS = {
    "whole": '''\
def whole(source, target, block):
    """Each line by itself. Lanes are neighbouring lines."""
    for line in lines:
        before = identity
        for begin in range(0, length, block):
            inside = identity
            for k in range(begin, min(begin + block, length)):
                inside = combine(inside, source[line, k])
                target[line, k] = combine(before, inside)
            before = combine(before, inside)
''',
    "totals": '''\
def totals(source, total, block):
    """What each block gives by itself. Lanes are neighbouring blocks or columns."""
    for line, number in blocks_of_lines:
        inside = identity
        for k in range(number * block, min((number + 1) * block, length)):
            inside = combine(inside, source[line, k])
        total[line, number] = inside
''',
    "carry": '''\
def carry(total):
    """From what each block gives to what all blocks before it give."""
    for line in lines:
        before = identity
        for number in range(blocks):
            before, total[line, number] = combine(before, total[line, number]), before
''',
    "apply": '''\
def apply(source, total, target, block):
    """Each block, after what all blocks before it give."""
    for line, number in blocks_of_lines:
        inside = identity
        for k in range(number * block, min((number + 1) * block, length)):
            inside = combine(inside, source[line, k])
            target[line, k] = combine(total[line, number], inside)
''',
}

#: Of a sorting network.
NETWORK = '''\
def network(source, target):
    """Many rows at once, one a lane: merge exchange, which compares the same places whatever the elements are."""
    item = items(source)  # a key whose order is that of the elements, with its place below it for argsort
    p = top               # the greatest power of two below the length
    while p > 0:
        q, r, d = top, 0, p
        while True:
            for i in range(length - d):
                if i & p == r:
                    item[i], item[i + d] = minimum(item[i], item[i + d]), maximum(item[i], item[i + d])
            if q == p:
                break
            q, r, d = q // 2, p, q - p
        p //= 2
    target[:] = elements_or_places(item)
    # where keys did not tell zeros or NaN apart:
    #     write these again, in the order in which they came
'''

#: By kernel: of sorting by digits.
DIGITS = {
    "spread": '''\
def spread(source, item, notes):
    """Make keys whose order is that of the elements, with the place below or beside them for argsort."""
    for k in piece:
        item[k] = key(source[k]), k
        notes[piece] |= element(key(source[k])) is not source[k], key(source[k - 1]) > key(source[k])
''',
    "count": '''\
def count(item, counts):
    """How often each value of a digit occurs in a block."""
    for k in block:
        counts[block, digit(item[k])] += 1
''',
    "move": '''\
def move(item, other, counts):
    """Items of lesser digits go first, of equal ones those of earlier blocks, then those that came first."""
    lesser = 0
    for value in range(values):
        place[value] = lesser + sum(counts[:block, value])
        lesser += sum(counts[:, value])
    for k in block:
        other[place[digit(item[k])]] = item[k]
        place[digit(item[k])] += 1
''',
    "finish": '''\
def finish(item, target):
    """Write the elements of the keys, or the places."""
    for k in piece:
        target[k] = element_or_place(item[k])
''',
    "restore": '''\
def restore(source, target, notes):
    """Keys do not tell zeros or NaN apart: where there are such, write them in the order in which they came."""
    if any(notes):
        zero, nan = sum(key(source) < key(0)), sum(key(source) < key(NaN))
        for k in range(length):
            if source[k] == 0:
                target[zero] = source[k]
                zero += 1
            if isnan(source[k]):
                target[nan] = source[k]
                nan += 1
''',
}
