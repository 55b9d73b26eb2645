"""Every HTML page and chart."""
