"""Numbers, dates and measures: read from texts, compared by value."""
