"""Two machines that share a memory: fetch, join item by item, push."""
