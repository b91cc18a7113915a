"""Projects: folders of Python that a model builds towards a goal, step by step."""
