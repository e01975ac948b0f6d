"""The *Compare* page: what differs between runs and groups, and what it may mean."""
