"""The stages of a request, from the search for a tool to the answer."""
