"""Thresholds from labelled cases."""
