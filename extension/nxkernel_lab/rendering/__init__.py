"""A compilation as boxes with coordinates, and from them a picture, a Graphviz graph, a text."""
