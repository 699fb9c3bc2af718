"""The thesis's experiments, A to N and 8.4, on one machine, and its claims judged by them."""
