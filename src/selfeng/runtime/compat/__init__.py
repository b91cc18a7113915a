"""The runtime under the names of the package `miniagents`; put this folder on the path to import it as that."""
