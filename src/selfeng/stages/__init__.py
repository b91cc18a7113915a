"""What a request goes through, from the search for a tool to the answer."""
