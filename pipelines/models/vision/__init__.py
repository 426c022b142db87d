"""Models that can see: they describe images, so that these can be found by words."""
