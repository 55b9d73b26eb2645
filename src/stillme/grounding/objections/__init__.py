"""What speaks against a claim that a statement shares its words with: one file a kind of objection, one function a check."""
