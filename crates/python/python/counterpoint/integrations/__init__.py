"""Drop-ins for other libraries, each imported only when asked for."""
