"""Random inputs, a million of them, against everything that reads what somebody else wrote; `make fuzz` runs them."""
