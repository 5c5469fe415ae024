"""What is known of a graph before loops are made: index maps, single elements, ranges of integers, products, costs."""
