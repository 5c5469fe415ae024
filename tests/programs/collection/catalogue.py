"""All programs of the collection."""

from collection.algorithms import checksums, idioms, orders, selections, tables, whole_arrays
from collection.matrices import factorizations, products, sparse_matrices, tridiagonal
from collection.signals import filters, images, transforms
from collection.simulations import calculus, fluids, fractals, particles, stencils
from collection.statistics import networks, statistics_by_hand

KINDS = {
    "stencils": stencils,
    "factorizations": factorizations,
    "products": products,
    "tridiagonal": tridiagonal,
    "particles": particles,
    "fractals": fractals,
    "selections": selections,
    "sparse": sparse_matrices,
    "checksums": checksums,
    "fluids": fluids,
    "networks": networks,
    "filters": filters,
    "tables": tables,
    "transforms": transforms,
    "images": images,
    "orders": orders,
    "calculus": calculus,
    "statistics": statistics_by_hand,
    "idioms": idioms,
    "whole arrays": whole_arrays,
}
PROGRAMS = [program for kind in KINDS.values() for program in kind.PROGRAMS]
