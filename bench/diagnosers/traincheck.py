REQUIREMENTS = ["torch==2.13.0", "traincheck==0.2.0"]
NAMES = {}
