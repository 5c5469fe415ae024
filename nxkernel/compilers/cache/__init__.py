"""Object code on disk: the files, the user's key, and which folders are trusted."""
