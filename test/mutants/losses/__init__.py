"""Wrong trainers whose op is of the family losses."""
