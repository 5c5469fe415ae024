"""Times, bytes and amounts, with their units."""

import pytest

from nxkernel.messages.quantities import amount, duration


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.0, "0 µs"),
        (0.0004, "400 ns"),
        (0.0009994, "999 ns"),
        (0.0009996, "1 µs"),
        (0.9996, "1.0 ms"),
        (9.96, "10 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
    ],
)
def test_durations_change_unit_where_the_digits_do(milliseconds, text):
    assert duration(milliseconds) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 "), (999, "999 "), (1000, "1.0 k"), (2.5e9, "2.5 G")])
def test_amounts_take_a_decimal_prefix(number, text):
    assert amount(number) == text
