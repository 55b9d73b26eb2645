"""Claims in two worlds: the same sentence against sources that support it and against sources that do not."""
