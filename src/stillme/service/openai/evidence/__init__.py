"""Evidence in the messages of a request: one file a format, and the table of them."""
