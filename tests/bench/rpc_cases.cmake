ttfd_library(NAME bench_rpc_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_cases.cc DEPS bench_core ttfd_client firmware_kernels)
