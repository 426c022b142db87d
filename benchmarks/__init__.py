"""What measures the project: speed, and what search finds."""
