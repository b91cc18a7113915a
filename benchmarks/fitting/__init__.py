"""Fitting of the search parameters: on data sets for all libraries, and on the requests of this
one.
"""
