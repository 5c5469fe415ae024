"""Arrays with NumPy's reference semantics while they are traced: storage, views, subscripts."""
