"""The team server's database: SQLite in its folder, or PostgreSQL. Needs the extra `server`."""
