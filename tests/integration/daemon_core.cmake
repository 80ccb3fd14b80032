ttfd_test(NAME daemon_core_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/daemon_core_test.cc
  DEPS daemon_core test_device firmware_kernels)
ttfd_test(NAME bad_kernel_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/bad_kernel_test.cc
  DEPS daemon_core test_device firmware_kernels)
ttfd_test(NAME daemon_queues_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/daemon_queues_test.cc
  DEPS core_fixture test_device)
add_dependencies(daemon_queues_test dispatch_kernel_bump_brisc dispatch_kernel_meet_brisc)
target_compile_definitions(daemon_queues_test PRIVATE DISPATCH_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/dispatch_kernels")
ttfd_test(NAME profile_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/profile_test.cc
  DEPS daemon_core test_device firmware_kernels)
ttfd_test(NAME link_domain_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/link_domain_test.cc
  DEPS core_fixture firmware_kernels runtime_card runtime_device_sim runtime_fabric)
