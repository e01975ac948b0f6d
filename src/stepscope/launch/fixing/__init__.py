"""`stepscope fix`: the edits of findings tried in copies of the script's folder, and what each of them changed."""
