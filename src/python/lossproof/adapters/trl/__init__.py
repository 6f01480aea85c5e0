"""TRL, https://github.com/huggingface/trl: an adapter a trainer, of versions from 0.15 on."""
