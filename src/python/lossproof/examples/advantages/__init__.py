"""Rewards, and advantages made of them."""
