"""Where events, records and answers are kept; two stores behind one contract."""
