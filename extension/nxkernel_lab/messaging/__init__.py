"""Messages between pages and Python, and static replacements for widgets in saved outputs."""
