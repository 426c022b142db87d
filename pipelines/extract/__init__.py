"""Who thinks: language models, and rules that need none. They return candidates; they never write."""
