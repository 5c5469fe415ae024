"""The timeline of compilations and caches: as a widget, a text, and plain tables."""
