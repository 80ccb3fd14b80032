# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-92f6a8a87b72
file TTSY
hash c122760fb47eade0b1256ff8c8c23e1511c53bd7c7ce2e2413cd283dd353511d
root SystemDescRoot
