"""How a text behaves: its voice, what it says of itself, instructions in it, harm."""
