"""What a question needs, whether it is clear, and what the passages answer to it."""
