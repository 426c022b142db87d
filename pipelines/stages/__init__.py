"""The stages of a night: plain functions from data to data. They decide; only the store writes."""
