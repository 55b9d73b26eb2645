"""The web console: pages for the people who answer for a chatbot, made of what the HTTP API says."""
