"""The reader: a model that reads a claim beside the states of a window, and what it is trained on."""
