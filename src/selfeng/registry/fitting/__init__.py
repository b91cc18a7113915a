"""How what search depends on is fitted: to data sets for all libraries, and to the library at
hand.
"""
