# Options, and the service manager around the daemon.
ttfd_test(NAME system_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/system_test.cc DEPS daemon_system)
ttfd_test(NAME options_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/options_test.cc DEPS daemon_options)
target_compile_definitions(options_test PRIVATE TTFD_SHIPPED_CONFIG="${PROJECT_SOURCE_DIR}/deploy/ttfd.toml")
ttfd_test(NAME open_device_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/open_device_test.cc DEPS daemon_run runtime_device_kmd)
ttfd_test(NAME config_check_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/config_check_test.cc DEPS daemon_config_check)
