"""Requests by the million: rows from files, one result each, in order, whatever does the work."""
