"""What StillMe knows of English: rule files, and grammar that no table can say."""
