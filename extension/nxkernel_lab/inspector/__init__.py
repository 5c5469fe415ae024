"""The inspector: a widget that shows what a definition was compiled to."""
