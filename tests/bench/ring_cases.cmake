# The ring.* cases of ttfd_bench.
ttfd_library(NAME bench_ring_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/ring_cases.cc DEPS bench_core ttfd_mesh PACKAGES fmt::fmt)
