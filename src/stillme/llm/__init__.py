"""Model servers: messages, one client, addresses that may be called, a breaker."""
