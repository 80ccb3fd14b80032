# Misbehaving clients of the gRPC front end.
ttfd_test(NAME rpc_fault_test NO_TSAN LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_fault_test.cc
  DEPS test_rpc_support)
