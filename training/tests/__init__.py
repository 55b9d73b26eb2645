"""Tests of the training recipe; each holds one promise."""
