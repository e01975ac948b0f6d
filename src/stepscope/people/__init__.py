"""Who uses a team server and what they may do: users, tokens, roles in projects, teams, the audit log."""
