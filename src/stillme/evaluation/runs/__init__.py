"""Cases run through a guard, and the figures of a run."""
