"""Who can be asked: one module a wire. Each turns a `Call` into a request and its reply into an `Answer`, no more."""
