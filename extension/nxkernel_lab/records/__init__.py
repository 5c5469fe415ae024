"""Events and cache contents as JSON data, and a follower of their changes."""
