"""The automatic choice: operators compared by how well they predict training samples that they have not seen."""
