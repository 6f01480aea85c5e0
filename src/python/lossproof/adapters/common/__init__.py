"""What ready-made adapters share: a tiny model and checkpoints, a trainer around them, and what stands in the place of a model
or of a dataset while the trainer's own code runs. Adapters import it; it imports no adapter."""
