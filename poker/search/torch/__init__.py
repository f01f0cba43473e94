"""The vector engine and its continuations on a torch device."""
