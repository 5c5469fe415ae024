"""Whether differences of a function tell the slope that was found for it."""


def agrees(function, slope, steps=(1e-4, 1e-6, 1e-5)):
    """Compare a slope at 0 with central differences over several steps, one of which has to tell the same.

    Those over a step and over half of it are extrapolated, and are worth as much as they agree with each other: so
    kinks and jumps nearby are no failures. Beside a kink that is nearer than all steps, differences over the other side
    tell the slope.

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
    sides = min(steps), -min(steps)
    return any(_agrees(function, slope, step) for step in steps) or any(_agrees_on(function, slope, h) for h in sides)


def _agrees(function, slope, step):
    wide, narrow = ((function(h) - function(-h)) / (2 * h) for h in (step, step / 2))
    extrapolated = (4 * narrow - wide) / 3
    rounding = 1e-15 * max(abs(function(step)), 1) / step
    return not abs(slope - extrapolated) > 10 * (abs(wide - narrow) + rounding) + 1e-5 * (1 + abs(extrapolated))


def _agrees_on(function, slope, step):
    """The same by differences over one side alone, which is to the left where the step is below 0."""
    here = function(0.0)
    wide, narrow = ((function(h) - here) / h for h in (step, step / 2))
    extrapolated = 2 * narrow - wide
    rounding = 1e-15 * max(abs(here), 1) / abs(step)
    return not abs(slope - extrapolated) > 10 * (abs(wide - narrow) + rounding) + 1e-5 * (1 + abs(extrapolated))
