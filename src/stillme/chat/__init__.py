"""The full pipeline: retrieval, identity, model, validators, tone."""
