"""A fitted operator in the user's units: made by ``fit``, saved in a file, judged on samples that it has not seen."""
