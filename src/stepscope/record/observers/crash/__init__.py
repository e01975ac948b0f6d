"""Reading an exception once, while its frames are alive, into plain records."""
