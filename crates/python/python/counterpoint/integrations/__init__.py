"""Drop-ins for other libraries, each imported on demand only."""
