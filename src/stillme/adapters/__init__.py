"""StillMe inside other frameworks: one file each, which imports that framework and nothing of the others."""
