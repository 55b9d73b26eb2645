"""From monitor to enforce: weeks of recorded verdicts against a checklist."""
