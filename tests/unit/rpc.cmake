# The parts of the gRPC front end that need no server.
ttfd_test(NAME rpc_peers_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_peers_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_audit_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_audit_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_replies_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_replies_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_conversion_test NO_TSAN LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_conversion_test.cc
  DEPS daemon_rpc)
