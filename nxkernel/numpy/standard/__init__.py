"""What the array API standard asks for beyond functions of NumPy's: the namespace, devices, limits of types, sets."""
