"""All programs of the collection."""

import calculus
import checksums
import factorizations
import filters
import fluids
import fractals
import idioms
import images
import networks
import orders
import particles
import products
import selections
import sparse_matrices
import statistics_by_hand
import stencils
import tables
import transforms
import tridiagonal
import whole_arrays

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
