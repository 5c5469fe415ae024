"""Programs to differentiate, by nxkernel and by JAX."""
