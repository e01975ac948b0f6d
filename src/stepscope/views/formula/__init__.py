"""Formulas over metrics, such as `= 1 - val/acc`: parsed, checked, and evaluated on the full series of a run."""
