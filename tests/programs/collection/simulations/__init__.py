"""Fields, bodies and equations, step by step."""
