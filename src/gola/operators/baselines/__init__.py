"""The networks that the paper compares with."""
