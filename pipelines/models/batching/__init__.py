"""Calls made in a batch, at half the price: sent by one run, collected by a later one, noted on the disk in between."""
