"""How an answer speaks."""
