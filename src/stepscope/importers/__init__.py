"""Import runs that other tools recorded, from their files. docs/design/021 has the plan."""
