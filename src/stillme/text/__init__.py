"""A text as what can be compared: tokens, sentences, language, names, concepts."""
