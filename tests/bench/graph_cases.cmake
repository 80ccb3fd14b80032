# The graph.* cases of ttfd_bench.
ttfd_library(NAME bench_graph_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_cases.cc DEPS bench_core ttfd_graph firmware_kernels)
