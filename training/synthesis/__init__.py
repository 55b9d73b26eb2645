"""Synthetic claims in English and Vietnamese, with exact spans of what the passage does not support."""
