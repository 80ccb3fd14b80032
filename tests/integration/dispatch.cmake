# The runtime and the real firmware on the device model, through the Dispatcher.
include(${PROJECT_SOURCE_DIR}/cmake/TtfdKernel.cmake)
set(dispatch_dir ${CMAKE_CURRENT_LIST_DIR})
set(dispatch_kernels "")
foreach(entry IN ITEMS probe_brisc probe_ncrisc probe_trisc0 probe_trisc1 probe_trisc2 bump_brisc meet_brisc wait_for_ever_brisc
        large_brisc large_ncrisc)
  string(REGEX REPLACE "_[^_]*$" "" source ${entry})
  string(REGEX REPLACE "^.*_" "" processor ${entry})
  ttfd_add_kernel(dispatch_kernel_${entry} PROCESSOR ${processor} SOURCES ${dispatch_dir}/dispatch_kernels/${source}.cc
    FILE ${entry} OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/dispatch_kernels)
  list(APPEND dispatch_kernels dispatch_kernel_${entry})
endforeach()
ttfd_add_kernel(dispatch_kernel_debugged PROCESSOR brisc SOURCES ${dispatch_dir}/dispatch_kernels/debugged.cc
  FILE debugged OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/dispatch_kernels OPTIMIZE -Og DEBUG)
foreach(name IN ITEMS compute_dst_test compute_engine_test compute_pairs_test compute_unary_test compute_waits_test)
  ttfd_test(NAME ${name} LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/${name}.cc
    DEPS runtime_card test_device firmware_kernels)
endforeach()
ttfd_library(NAME linked_cards HDRS ${dispatch_dir}/../support/linked_cards.h SRCS ${dispatch_dir}/../support/linked_cards.cc
  DEPS runtime_card runtime_device_sim runtime_fabric firmware_kernels)
ttfd_test(NAME link_test LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/link_test.cc DEPS linked_cards test_device)
ttfd_test(NAME remote_device_test LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/remote_device_test.cc DEPS runtime_device_sim runtime_fabric)
ttfd_test(NAME op_kernels_test LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/op_attention_test.cc ${dispatch_dir}/op_eltwise_test.cc
       ${dispatch_dir}/op_matmul_test.cc ${dispatch_dir}/op_reduce_test.cc ${dispatch_dir}/op_rows_test.cc ${dispatch_dir}/op_cost_test.cc
  DEPS runtime_card test_device firmware_kernels firmware_ops)
ttfd_test(NAME dispatch_print_test LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/dispatch_print_test.cc
  DEPS runtime_card test_device firmware_kernels)
ttfd_test(NAME dispatch_stall_test LABELS integration SRCS ${dispatch_dir}/dispatch_stall_test.cc
  DEPS runtime_card firmware_bench)
ttfd_test(NAME dispatch_verify_test LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/dispatch_verify_test.cc
  DEPS runtime_card test_device)
foreach(name IN ITEMS dispatch_boot_test dispatch_evidence_test dispatch_hang_test dispatch_launch_test dispatch_queues_test dispatch_shutdown_test
        dispatch_snapshot_test dispatch_trace_test dispatch_transfer_test)
  ttfd_test(NAME ${name} LABELS integration TIMEOUT 120 SRCS ${dispatch_dir}/${name}.cc
    DEPS runtime_card test_device firmware_images_small)
  add_dependencies(${name} ${dispatch_kernels})
  target_compile_definitions(${name} PRIVATE DISPATCH_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/dispatch_kernels")
endforeach()
