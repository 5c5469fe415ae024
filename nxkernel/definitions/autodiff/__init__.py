"""Automatic differentiation and vmap: grad, jvp, vjp, jacobian, hessian, custom gradients, vectorized functions."""
