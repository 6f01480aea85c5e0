"""Saves a tiny model and its tokenizer in a folder, for commands that want a name."""

import sys

import tiny

tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
tokenizer.save_pretrained(sys.argv[1])
tiny.rotary(len(tokenizer)).save_pretrained(sys.argv[1])
