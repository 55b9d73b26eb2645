"""Files as documents: read, cut into chunks, kept."""
