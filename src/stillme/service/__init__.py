"""The HTTP service: verification for teams with a pipeline of their own, and a chat for those without."""
