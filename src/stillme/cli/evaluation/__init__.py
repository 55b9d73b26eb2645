"""Commands for evaluation, calibration and rollout."""
