"""Arguments of the public functions, checked and converted for the core library."""
