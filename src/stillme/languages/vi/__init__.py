"""What StillMe knows of Vietnamese: rule files, and grammar that no table can say."""
