"""Programs with loops and choices, for tests of their gradients."""

import nxkernel as nx


@nx.defn
def zero_turns(x):
    """No turn at all."""
    i = 0
    y = x * x
    while i < 0:
        y = nx.sin(y) * x
        i += 1
    return nx.sum(y)


@nx.defn
def nested(x):
    """Loops in loops."""
    y = x
    for i in range(3):
        for _ in range(2):
            y = nx.sin(y) * x + i * y
    return nx.sum(y)


@nx.defn
def nested_while(x):
    """An inner loop that turns as often as the outer one has."""
    i = 0
    y = x
    while i < 3:
        j = 0
        while j < i:
            y = nx.sin(y) * x + y
            j += 1
        i += 1
    return nx.sum(y)


@nx.defn
def triangle(x):
    """An inner loop with two bounds."""
    y = x
    i = 0
    while i < 3:
        j = 0
        while j < 4 and j <= i:
            y = nx.sin(y) * x + y
            j += 1
        i += 1
    return nx.sum(y)


@nx.defn
def left_early(x):
    """A loop that is left early."""
    y = x
    i = 0
    while i < 10:
        y = y * 1.3 + x * y
        i += 1
        if nx.sum(y) > 20:
            break
    return nx.sum(y * y)


@nx.defn
def left_before_counting(x):
    """Loops that are left before their counters change, the inner one by two ways."""
    y = x
    i = 0
    while i < 4:
        j = i
        while j < 5:
            y = y + nx.sin(y) * x * 0.1
            if y[0] > 1.5:
                break
            if y[1] > 30:
                y = y * 0.5
                break
            j += 2
        if nx.sum(y) > 20:
            break
        i += 1
    return nx.sum(y * y)


@nx.defn
def left_from_within(x):
    """A function that is left from the inner one of two loops."""
    y = x
    for i in range(3):
        for _ in range(i, 4):
            y = y + nx.sin(y) * x * 0.1
            if y[0] > 0.6:
                return nx.sum(y * y)
    return nx.sum(y)


@nx.defn
def counters_that_meet(x):
    """Two counters, of which one is compared with the other, and one that is compared the other way round."""
    i, j = 0, 10
    while i < j:
        x = nx.sin(x) * x + i
        i += 1
        j -= 2
    while not i >= 6:
        x = x * nx.cos(x)
        i += 1
    return nx.sum(x) * j


@nx.defn
def skipped_turns(x):
    """Turns that are skipped."""
    y = x
    for i in range(8):
        if i % 2 == 0:
            continue
        y = y * nx.cos(x) + x
    return nx.sum(y * y)


@nx.defn
def two_conditions(x):
    """A condition of a counter and of data."""
    y = x
    i = 0
    while i < 10 and nx.sum(y) < 20:
        y = y * 1.3 + x * y
        i += 1
    return nx.sum(y * y)


@nx.defn
def carried_ints(x):
    """Whole numbers that are no counters."""
    k = 0
    y = x
    i = 0
    while i < 6:
        k = (k * 3 + 1) % 4
        y = y * x[k] + nx.sin(y)
        i += 1
    return nx.sum(y) * k


@nx.defn
def in_place(x):
    """An array written and read in turns."""
    a = nx.broadcast(nx.f64(0.0), (6,))
    a = nx.put_slice(a, [0], x[0:1])
    i = 0
    while i < 5:
        a = nx.put_slice(a, [i + 1], nx.reshape(nx.sin(a[i]) * x[1] + a[i] * i, (1,)))
        i += 1
    return nx.sum(a * a)


@nx.defn
def choice_in_loop(x):
    """A choice in every turn."""
    y = x
    i = 0
    while i < 5:
        if nx.sum(y) > 3:
            y = nx.sin(y) * x
        else:
            y = y * 2 + x * i
        i += 1
    return nx.sum(y * y)


@nx.defn
def loop_in_choice(x):
    """A loop on one side of a choice."""
    if nx.sum(x) > 1:
        y = x
        i = 0
        while i < 3:
            y = y * nx.cos(y) + x
            i += 1
    else:
        y = x * x
    return nx.sum(y)


@nx.defn
def rows(x, m):
    """Rows and elements by the counter."""
    y = x
    i = 0
    while i < 4:
        y = nx.sin(y) + m[i] * y[i]
        i += 1
    return nx.sum(y)


@nx.defn
def minus_two(x, m):
    """A counter that falls by two."""
    y = x
    i = 7
    while i >= 0:
        y = nx.sin(y) * m[i // 2] + x * i
        i -= 2
    return nx.sum(y)


@nx.defn
def backwards(x, m):
    """A range that falls."""
    y = x
    for i in range(3, -1, -1):
        y = nx.sin(y) * m[i] + x
    return nx.sum(y)


@nx.defn
def unused_state(x, m):
    """A part of the state that nobody asks for."""
    y = x
    z = x
    i = 0
    while i < 4:
        z = nx.exp(z * 0.1) * y
        y = y * m[i] + 1
        i += 1
    return nx.sum(y)


@nx.defn
def two_results(x, m):
    """Two results."""
    y = x
    z = x
    i = 0
    while i < 4:
        y, z = nx.sin(z) * y, y * m[i]
        i += 1
    return nx.sum(y) + nx.sum(z * z)


@nx.defn
def products(x, m):
    """A product with what does not change."""
    y = x
    i = 0
    mm = m * m
    while i < 4:
        y = nx.dot(mm, y) * 0.3 + nx.sin(x)
        i += 1
    return nx.sum(y)


@nx.defn
def counter_returned(x):
    """The number of turns as a result."""
    y = x
    i = 0
    while i < 10 and nx.sum(y) < 9.0:
        y = y * 1.5
        i += 1
    return nx.sum(y) * i


@nx.defn
def bound_by_argument(x, n):
    """A bound that is an argument, and one that is not."""
    y = x
    i = 0
    while i < n and i < 20:
        y = nx.sin(y) * x
        i += 1
    return nx.sum(y)


@nx.defn
def invariant_state(x):
    """A part of the state that stays."""
    y = x
    z = x * 2
    i = 0
    while i < 4:
        z = z
        y = y * z
        i += 1
    return nx.sum(y) + nx.sum(z)


@nx.defn
def exchange(x, m):
    """Parts that change places."""
    a = x
    b = m[0]
    i = 0
    while i < 5:
        a, b = b, a * b
        i += 1
    return nx.sum(a)


@nx.defn
def nothing_kept(x):
    """Nothing needs to be kept."""
    y = x
    i = 0
    while i < 100:
        y = y * 0.99 + 0.1
        i += 1
    return nx.sum(y)


@nx.defn
def choice_of_whole_numbers(x):
    """A choice that gives a whole number as well."""
    if nx.sum(x) > 1:
        k = 2
        y = x
    else:
        k = 1
        y = x * 3
    return nx.sum(y * k)


@nx.defn
def nested_choices(x):
    """Choices in choices."""
    s = nx.sum(x)
    if s > 1:
        if s > 100:
            y = x
        else:
            y = nx.sin(x) * s
    else:
        y = x * x * x
    return nx.sum(y)


@nx.defn
def loop_in_choice_in_loop(x):
    """A loop in a choice in a loop."""
    y = x
    i = 0
    while i < 4:
        if nx.sum(y) > 2:
            j = 0
            while j < 3:
                y = y * nx.cos(x)
                j += 1
        else:
            y = y + x
        i += 1
    return nx.sum(y * y)


@nx.defn
def count_up_from_seven(x):
    """A start, an end that is reached and steps of three."""
    y = x
    i = 7
    while i <= 15:
        y = nx.sin(y) * x + y / i
        i += 3
    return nx.sum(y)


@nx.defn
def reversed_comparison(x):
    """The counter on the other side."""
    y = x
    i = 0
    while 5 > i:  # noqa: SIM300
        y = nx.sin(y) * x
        i = 1 + i
    return nx.sum(y)


@nx.defn
def not_equal(x):
    """A counter that ends when it is there."""
    y = x
    i = 0
    while i != 5:
        y = nx.sin(y) * x
        i = 1 + i
    return nx.sum(y)


@nx.defn
def early_return(x):
    """A return from within."""
    y = x
    for _ in range(5):
        y = nx.sin(y) * x + y
        if nx.sum(y) > 6:
            return nx.sum(y * y)
    return nx.sum(y)


@nx.defn
def no_counter(x):
    """A loop that counts nothing and keeps nothing."""
    y = x
    while nx.sum(y) > 1:
        y = y * 0.5
    return nx.sum(y) * 3


@nx.defn
def substitution(m, b):
    """Substitution in a triangular system, assigned in place."""
    y = b * 1
    for i in range(4):
        s = y[i]
        for j in range(i):
            s = s - m[i, j] * y[j]
        y[i] = s / (m[i, i] + 2.0)
    return nx.sum(y * y)


@nx.defn
def three_loops(x, m):
    """Three loops."""
    y = x
    for i in range(2):
        for j in range(2):
            for k in range(2):
                y = nx.sin(y * m[i, j]) + m[j, k] * x * k
    return nx.sum(y)


@nx.defn
def greatest_so_far(x):
    """The greatest of each element so far."""
    y = x
    best = x * 0
    i = 0
    while i < 5:
        y = nx.cos(y) * x
        best = nx.select(y > best, y, best)
        i += 1
    return nx.sum(best)


@nx.defn
def scalar_state(a, b):
    """Numbers without axes."""
    s = 1.0
    i = 0
    while i < 6:
        s = s * a + nx.sin(s) * b
        i += 1
    return s


@nx.defn
def complex_inside(x):
    """Complex numbers between real ones."""
    z = x + 1j * x
    i = 0
    while i < 4:
        z = z * z * 0.3 + 1j * x
        i += 1
    return nx.sum(nx.abs(z))


@nx.defn
def loop_of_linalg(m, x):
    """Equations in every turn."""
    y = x
    i = 0
    while i < 3:
        y = nx.linalg.solve(m + nx.eye(4, type="f64") * 4, y) + x
        i += 1
    return nx.sum(y * y)


@nx.defn
def down_counter(x):
    """A counter that falls to zero."""
    i = 5
    y = x
    while i > 0:
        y = nx.sin(y) * x * i
        i -= 1
    return nx.sum(y)


@nx.defn
def two_loops(x):
    """A loop that goes on counting where another one ended."""
    y = x
    i = 0
    while i < 3:
        y = nx.sin(y) * x
        i += 1
    while i < 6:
        y = nx.cos(y) * x + y
        i += 1
    return nx.sum(y)


#: By what they take: a vector of four numbers, or one and a matrix of four rows and columns.
OF_A_VECTOR = (
    zero_turns,
    nested,
    nested_while,
    triangle,
    left_early,
    left_before_counting,
    left_from_within,
    counters_that_meet,
    skipped_turns,
    two_conditions,
    carried_ints,
    in_place,
    choice_in_loop,
    loop_in_choice,
    counter_returned,
    invariant_state,
    nothing_kept,
    choice_of_whole_numbers,
    nested_choices,
    loop_in_choice_in_loop,
    count_up_from_seven,
    reversed_comparison,
    not_equal,
    early_return,
    no_counter,
    greatest_so_far,
    complex_inside,
    down_counter,
    two_loops,
)
OF_A_MATRIX = (rows, minus_two, backwards, unused_state, two_results, products, exchange, three_loops)
