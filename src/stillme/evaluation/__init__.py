"""Evaluation, calibration and rollout: from monitor to enforce on evidence."""
