# The gRPC front end over a fake daemon; test code that includes gRPC runs without the thread sanitizer.
set(rpc_support ${CMAKE_CURRENT_LIST_DIR}/../support)
add_library(test_rpc_support STATIC ${rpc_support}/rpc_test_server.cc ${rpc_support}/fake_daemon_service.cc)
ttfd_compile_options(test_rpc_support NO_TSAN)
target_link_libraries(test_rpc_support PUBLIC daemon_rpc daemon_core GTest::gtest)
ttfd_test(NAME rpc_session_test NO_TSAN LABELS integration SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_session_test.cc
  DEPS test_rpc_support)
ttfd_test(NAME rpc_admin_test NO_TSAN LABELS integration SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_admin_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_health_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_reply_call_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_status_test.cc
  DEPS test_rpc_support)
