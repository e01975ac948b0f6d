"""The *Compare* page: differences between runs and groups, and what they may mean."""
