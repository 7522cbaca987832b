"""How far predictions may be off: bands around them, the error of one prediction, and inputs that are unusual."""
