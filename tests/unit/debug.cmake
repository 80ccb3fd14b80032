# Tests of runtime/debug.
ttfd_test(NAME debug_test LABELS unit DEPS runtime_debug runtime_device_sim
  SRCS ${CMAKE_CURRENT_LIST_DIR}/rsp_packet_test.cc ${CMAKE_CURRENT_LIST_DIR}/gdb_session_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/gdb_running_test.cc ${CMAKE_CURRENT_LIST_DIR}/gdb_server_test.cc)
