"""``python -m gola`` is the same as ``gola``."""

from gola.cli import main

if __name__ == "__main__":
    main()
