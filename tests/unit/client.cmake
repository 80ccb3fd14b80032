# Unit tests of libttfd, against a fake daemon.
set(client_support ${CMAKE_CURRENT_LIST_DIR}/../support)
# The fake as pure functions over messages; and behind gRPC.
ttfd_library(NAME ttfd_fake_daemon NO_TSAN
  HDRS ${client_support}/fake_ttfd_daemon.h ${client_support}/fake_ttfd_link.h ${client_support}/fake_ttfd_session.h
  SRCS ${client_support}/fake_ttfd_daemon.cc ${client_support}/fake_ttfd_link.cc ${client_support}/fake_ttfd_session.cc
  DEPS ttfd_proto PACKAGES PkgConfig::CRYPTO)
ttfd_library(NAME ttfd_fake_server NO_TSAN
  HDRS ${client_support}/fake_ttfd_server.h SRCS ${client_support}/fake_ttfd_server.cc
  DEPS ttfd_fake_daemon ttfd_proto)
ttfd_test(NAME client_test NO_TSAN LABELS unit
  SRCS ${CMAKE_CURRENT_LIST_DIR}/client_session_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_sending_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_error_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_timeline_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_admin_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_convert_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_interrupt_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_link_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_outbox_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_queue_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_queues_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_reconnect_state_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_resume_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_formats_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_tiles_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_trace_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_unix_socket_test.cc
  DEPS ttfd_client ttfd_fake_daemon ttfd_fake_server ttfd_proto runtime_command runtime_sim_tensix)
ttfd_test(NAME client_driver_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/client_driver_test.cc DEPS ttfd_client)
ttfd_test(NAME client_cli_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/client_cli_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_npy_test.cc
  DEPS ttfd_cli)
