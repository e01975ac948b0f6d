"""What is wrong with a run: rules over what the witnesses saw, and explanations of crashes. See docs/design/014."""
