"""Pictures: the only place where Matplotlib is imported."""

from gola.extras import require

require("matplotlib", extra="plot", what="Drawing")
