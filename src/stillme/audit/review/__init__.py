"""What people say of verdicts, and which verdicts they are asked about."""
