"""Language models: one module per API. Each turns a `Call` into a request, and the reply into an `Answer`."""
