"""The same programs as people write them for other libraries, and the libraries as the suite sets them."""
