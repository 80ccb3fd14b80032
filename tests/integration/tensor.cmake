# libttfd_tensor against the real daemon on the embedded device.
ttfd_test(NAME tensor_daemon_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/tensor_daemon_test.cc ${CMAKE_CURRENT_LIST_DIR}/tensor_rows_daemon_test.cc
  DEPS ttfd_client_daemon ttfd_tensor)
ttfd_test(NAME tensor_move_test LABELS integration TIMEOUT 240
  SRCS ${CMAKE_CURRENT_LIST_DIR}/tensor_move_test.cc DEPS ttfd_client_daemon ttfd_tensor)
