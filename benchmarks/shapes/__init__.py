"""Every sample its own shape: a small benchmark to compare with, its leaderboard, and what each part of `auto` buys."""
