ttfd_library(NAME bench_rpc_cases
  HDRS ${CMAKE_CURRENT_LIST_DIR}/client_child.h ${CMAKE_CURRENT_LIST_DIR}/input_flood.h ${CMAKE_CURRENT_LIST_DIR}/light_client.h
       ${CMAKE_CURRENT_LIST_DIR}/rpc_cases.h
  SRCS ${CMAKE_CURRENT_LIST_DIR}/client_child.cc ${CMAKE_CURRENT_LIST_DIR}/client_count_cases.cc
       ${CMAKE_CURRENT_LIST_DIR}/flood_cases.cc ${CMAKE_CURRENT_LIST_DIR}/input_flood.cc ${CMAKE_CURRENT_LIST_DIR}/light_client.cc
       ${CMAKE_CURRENT_LIST_DIR}/launch_counts.cc ${CMAKE_CURRENT_LIST_DIR}/python_case.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_cases.cc ${CMAKE_CURRENT_LIST_DIR}/share_cases.cc
  DEPS bench_core ttfd_client firmware_kernels)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/python_case.cc PROPERTIES
  COMPILE_DEFINITIONS "TTFD_BENCH_PYTHON_CLIENT=\"${CMAKE_CURRENT_LIST_DIR}/python_client.py\";TTFD_BENCH_LLAMA=\"${PROJECT_SOURCE_DIR}/client/examples/llama\""
  SKIP_UNITY_BUILD_INCLUSION ON)
