# Unit tests of libttfd, against a fake daemon.
ttfd_library(NAME ttfd_fake_server NO_TSAN
  HDRS ${CMAKE_CURRENT_LIST_DIR}/../support/fake_ttfd_server.h ${CMAKE_CURRENT_LIST_DIR}/../support/fake_ttfd_session.h
  SRCS ${CMAKE_CURRENT_LIST_DIR}/../support/fake_ttfd_server.cc ${CMAKE_CURRENT_LIST_DIR}/../support/fake_ttfd_session.cc
  DEPS ttfd_proto PACKAGES PkgConfig::CRYPTO)
ttfd_test(NAME client_test NO_TSAN LABELS unit
  SRCS ${CMAKE_CURRENT_LIST_DIR}/client_session_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_sending_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_error_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_timeline_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_admin_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_sent_log_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_queue_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_trace_test.cc
  DEPS ttfd_client ttfd_fake_server)
ttfd_test(NAME client_cli_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/client_cli_test.cc DEPS ttfd_cli)
