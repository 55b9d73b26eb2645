"""Measurements of StillMe: `python -m benchmarks.core` for speed, memory and growth."""
