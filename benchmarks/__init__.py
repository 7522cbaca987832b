"""Side by side with the libraries that a user would pick instead."""
