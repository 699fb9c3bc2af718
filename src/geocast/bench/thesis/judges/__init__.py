"""One small function for each claim: does it hold by these rows, and what do they say?"""
