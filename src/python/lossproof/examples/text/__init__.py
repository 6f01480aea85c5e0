"""Conversations, their text and their ids."""
