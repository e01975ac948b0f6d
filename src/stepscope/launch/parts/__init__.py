"""The parts of sessions. `launch/sessions.py` puts them into lists."""
