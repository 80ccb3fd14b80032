# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-9c61739ba0dc
file TTSY
hash abb97a9b3e0f17b569438fcabf5d56d4e48f0bf5
root SystemDescRoot
