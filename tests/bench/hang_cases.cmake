ttfd_library(NAME bench_hang_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/hang_cases.cc DEPS bench_core ttfd_client firmware_kernels)
