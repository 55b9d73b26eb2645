"""The recipe that turns public base weights and a data folder into the shipped grounding model."""
