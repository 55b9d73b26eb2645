"""The weights, and `manifest.json` with the hash of each file and the thresholds that belong to them."""
