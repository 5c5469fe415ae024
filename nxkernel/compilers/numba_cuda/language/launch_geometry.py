"""Launch geometry: grid and block of a launch."""

from __future__ import annotations

from typing import Protocol

from nxkernel import shapes

#: Threads of a block where nothing asks for others.
BLOCK = 256
#: Threads of a block at most: each may then have 128 registers.
MOST = 512
#: Instructions of a pass up to which so many are sure to be enough.
SIMPLE = 32
#: Blocks for each multiprocessor at most; the threads of more would have one element each.
WAVES = 32


class Machine(Protocol):
    """The properties of a device that launches depend on."""

    multiprocessors: int
    shared_limit: int
    simulated: bool
    threads: int


def flat(device: Machine, items: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block for a grid-stride loop over so many items."""
    threads = min(BLOCK, device.threads)
    if device.simulated:
        threads = min(threads, 4)
    return grid(device, shapes.ceil_div(items, threads)), (threads,)


def power_of_two(number: int) -> int:
    """The least power of two that is at least `number`.

    Examples
    --------
    >>> [power_of_two(n) for n in (0, 1, 2, 3, 1000)]
    [1, 1, 2, 4, 1024]
    """
    return 1 << max(number - 1, 0).bit_length()


#: Elements of a row for which the lanes of one warp are enough, and from which a row takes more than a usual block.
WARP_ROW, LONG_ROW = 1024, 1 << 14
WARP = 32
#: Elements that a thread reduces at least.
SHARE = 4
#: Threads for each multiprocessor that keep its memory busy.
BUSY = 1024


def rows(device: Machine, count: int, length: int, instructions: int) -> tuple[int, int]:
    """The number of threads a row and of rows a block, for `count` rows of a length.

    Parameters
    ----------
    device : Machine
    count, length : int
    instructions : int
        Of the longest pass.
    """
    wanted = power_of_two(shapes.ceil_div(length, SHARE))
    if device.simulated:
        members = min(wanted, device.threads // 4)
        return members, max(1, min(device.threads // members, 4, power_of_two(count)))
    busy = device.multiprocessors * BUSY
    if length <= WARP_ROW and count * WARP >= busy:
        most = WARP
    elif instructions <= SIMPLE and (length > LONG_ROW or count * BLOCK < busy):
        most = MOST
    else:
        most = BLOCK
    members = min(wanted, most, device.threads)
    return members, max(min(BLOCK, device.threads) // members, 1)


def columns(device: Machine, count: int, length: int, max_threads: int) -> tuple[int, int]:
    """The number of columns a block and of threads a column, for `count` columns of a length, with at most
    `max_threads` threads.

    Parameters
    ----------
    device : Machine
    count, length, max_threads : int
    """
    if device.simulated:
        most, wide = min(device.threads, 8, max_threads), 2
        wide = min(power_of_two(count), wide)
        return wide, min(most // wide, power_of_two(shapes.ceil_div(length, SHARE)))
    if count >= device.multiprocessors * BUSY:
        return min(BLOCK, max_threads), 1
    wide = min(power_of_two(count), WARP)
    wanted = power_of_two(shapes.ceil_div(device.multiprocessors * BUSY, count))
    share = power_of_two(shapes.ceil_div(length, SHARE))
    members = max(1, min(max_threads // wide, share, max(wanted, BLOCK // wide)))
    return max(wide, WARP // members), members


def grid(device: Machine, blocks: int) -> tuple[int, ...]:
    """The number of blocks: no more than there is work for, nor than keep the device busy; each then takes several."""
    return (max(1, min(blocks, device.multiprocessors * (2 if device.simulated else WAVES))),)
