"""Run somebody's script unchanged: as `__main__`, watched, limited, explained when it fails."""
