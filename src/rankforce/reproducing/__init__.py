"""Tables and figures of papers, run again: what they found, what is found here, and a verdict by a rule."""
