"""`lossproof twin`: one run of several of the same script. Here it is made the same as the others but for one change, and writes
what the others can be compared with."""
