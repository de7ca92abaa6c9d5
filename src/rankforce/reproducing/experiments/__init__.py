"""One file per table or figure of a paper; each has one class that is an ``Experiment``."""
