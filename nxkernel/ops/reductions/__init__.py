"""Many elements become one, or one each of several: sums, windows, products, transforms."""
