# The suites of the firmware, the runtime and the daemon once more, on the official simulator. One ctest a program: what they
# promise is told case by case where they run on the embedded device. Skipped without TTFD_TTSIM_LIB, in the environment or in
# the CMake cache.
foreach(name IN ITEMS device_conformance compute_dst_test compute_engine_test compute_pairs_test compute_unary_test op_kernels_test firmware_test firmware_reference_test firmware_hazard_test
        dispatch_boot_test dispatch_hang_test dispatch_launch_test dispatch_queues_test dispatch_stall_test dispatch_trace_test
        dispatch_transfer_test daemon_core_test daemon_queues_test client_daemon_test tensor_move_test graph_compute_test graph_daemon_test graph_random_test)
  add_test(NAME ttsim.${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/run_on.py ttsim
    --library "${TTFD_TTSIM_LIB}" $<TARGET_FILE:${name}>)
  set_tests_properties(ttsim.${name} PROPERTIES LABELS ttsim TIMEOUT 3000 SKIP_RETURN_CODE 77)
endforeach()
set_tests_properties(ttsim.graph_random_test PROPERTIES ENVIRONMENT "TTFD_SEEDS=20")
