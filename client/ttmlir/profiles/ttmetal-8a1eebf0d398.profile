# Tables of tt-mlir's ttmetal files with this hash. Written by make_profile.py; src/profile.h has the format.
extends ttmetal-4a24ba5af1b4
file TTM0
hash 8a1eebf0d39879a47784a1b1cca289aea34e539cc1c98b22f6d352bc0fbdf551
root TTMetalBinary
