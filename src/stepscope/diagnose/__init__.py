"""What is wrong with a run: rules over what the observers saw, and explanations of crashes. See docs/design/014."""
