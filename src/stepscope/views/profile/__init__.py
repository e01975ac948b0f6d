"""The *Profile* page: tabs, tables, the timeline and the stacks of one profile."""
