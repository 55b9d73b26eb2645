"""Claims against passages: what a draft says, where its support stands, and what speaks against it."""
