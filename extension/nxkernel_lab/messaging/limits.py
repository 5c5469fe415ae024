"""Limits of what pages may send and of what they are told."""

#: The longest name that a page may send, in characters.
LONGEST = 1000
#: The largest number of groups that a page may fold.
MOST = 20_000
#: The largest number of views that a widget is told of.
VIEWS = 64
