"""The timeline of compilations and caches, as a widget, text and tables."""
