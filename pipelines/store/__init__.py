"""The Markdown store: layout, items, documents, logs, change sets and git. It knows no model and no index."""
