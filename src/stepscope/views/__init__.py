"""One file per page: its data and its route."""
