"""The mutants that were loaded, by id. A module of a family adds its own when it is imported: see `loading`."""

from lossproof.examples.variants import Variants

MUTANTS = Variants()
