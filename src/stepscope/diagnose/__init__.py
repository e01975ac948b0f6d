"""Findings: rules over what was seen of a script, crash explanations, and how a finding is shown and kept."""
