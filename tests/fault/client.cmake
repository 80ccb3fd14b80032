# libttfd over connections that break, and clients and daemons that die.
set(fault_support ${CMAKE_CURRENT_LIST_DIR}/../support)
ttfd_library(NAME test_cut_relay HDRS ${fault_support}/cut_relay.h SRCS ${fault_support}/cut_relay.cc
  DEPS runtime_base PACKAGES GTest::gtest)
ttfd_test(NAME client_reconnect_test LABELS integration fault TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/client_reconnect_test.cc
  DEPS ttfd_client_daemon ttfd_client test_cut_relay)
add_dependencies(client_reconnect_test kernel_empty kernel_print_brisc dispatch_kernel_bump_brisc)

add_executable(random_client ${fault_support}/random_client_main.cc ${fault_support}/random_client.cc)
ttfd_compile_options(random_client)
target_link_libraries(random_client PRIVATE ttfd_client_daemon ttfd_client)
ttfd_library(NAME test_death_fixture HDRS ${fault_support}/death_fixture.h ${fault_support}/random_client.h
  SRCS ${fault_support}/death_fixture.cc ${fault_support}/random_client.cc DEPS ttfd_client_daemon ttfd_client PACKAGES GTest::gtest)
target_compile_definitions(test_death_fixture PRIVATE TTFD_RANDOM_CLIENT="$<TARGET_FILE:random_client>")
add_dependencies(test_death_fixture random_client dispatch_kernel_bump_brisc)
ttfd_test(NAME client_death_test LABELS integration fault TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/client_death_test.cc
  DEPS test_death_fixture)
ttfd_test(NAME daemon_stop_test LABELS integration fault TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/daemon_stop_test.cc
  DEPS ttfd_client_daemon ttfd_client)
add_dependencies(daemon_stop_test kernel_empty kernel_spin)
ttfd_test(NAME client_soak_test LABELS slow fault TIMEOUT 900 SRCS ${CMAKE_CURRENT_LIST_DIR}/client_soak_test.cc
  DEPS test_death_fixture test_cut_relay)
add_dependencies(client_soak_test kernel_empty kernel_print_brisc)
