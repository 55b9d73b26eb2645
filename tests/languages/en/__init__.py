"""Tests of what one language has in code."""
