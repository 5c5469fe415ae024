"""Whether differences of a function tell the slope that was found for it."""


def agrees(function, slope, steps=(1e-4, 1e-6, 1e-5)):
    """Compare a slope at 0 with central differences over several steps, one of which has to tell the same.

    Those over a step and over half of it are extrapolated, and are worth as much as they agree with each other: so
    kinks and jumps nearby are no failures.

    Parameters
    ----------
    function : callable
        Of one number, gives one.
    slope : float
    steps : sequence of float

    Returns
    -------
    bool
    """
    return any(_agrees(function, slope, step) for step in steps)


def _agrees(function, slope, step):
    wide, narrow = ((function(h) - function(-h)) / (2 * h) for h in (step, step / 2))
    extrapolated = (4 * narrow - wide) / 3
    rounding = 1e-15 * max(abs(function(step)), 1) / step
    return not abs(slope - extrapolated) > 10 * (abs(wide - narrow) + rounding) + 1e-5 * (1 + abs(extrapolated))
