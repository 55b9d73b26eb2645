"""The one pipeline: evidence, findings, repairs, ruling. Whoever needs a verdict, or a look ahead at one, comes here."""
