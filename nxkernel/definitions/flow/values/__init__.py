"""Variables, arrays and objects that traced code assigns to, and which of their changes the program makes."""
