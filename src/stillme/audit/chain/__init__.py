"""Records tied by hashes, sealed, checked from end to end."""
