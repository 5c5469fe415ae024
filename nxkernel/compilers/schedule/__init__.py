"""Which values are materialized, and which loop nest computes each of them."""
