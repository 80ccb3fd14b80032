# The tensor.* cases of ttfd_bench.
ttfd_library(NAME bench_tensor_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/tensor_cases.cc DEPS bench_core ttfd_tensor)
