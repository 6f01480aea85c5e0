"""What supervised and preference training lay out in rows."""
