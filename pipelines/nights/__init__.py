"""What an operator watches: whether nights happen and end well, what is to come, and who is told."""
