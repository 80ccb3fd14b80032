# Kernels that bring a card down in every way known, beside clients that compute on.
include(${PROJECT_SOURCE_DIR}/cmake/TtfdKernel.cmake)
set(hang_zoo_dir ${CMAKE_CURRENT_LIST_DIR}/hang_zoo)
set(hang_zoo_kernels "")
foreach(entry IN ITEMS corrupt_message_brisc deadlock_brisc deadlock_ncrisc fill_completions_brisc forget_notify_brisc
        never_answer_brisc overwrite_dispatcher_brisc overwrite_mailbox_brisc poke_brisc strike_brisc)
  string(REGEX REPLACE "_[^_]*$" "" source ${entry})
  string(REGEX REPLACE "^.*_" "" processor ${entry})
  ttfd_add_kernel(hang_zoo_${entry} PROCESSOR ${processor} SOURCES ${hang_zoo_dir}/${source}.cc
    FILE ${entry} OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hang_zoo)
  list(APPEND hang_zoo_kernels hang_zoo_${entry})
endforeach()
ttfd_test(NAME hang_zoo_test LABELS fault TIMEOUT 300 SRCS ${CMAKE_CURRENT_LIST_DIR}/hang_zoo_test.cc
  DEPS daemon_core runtime_elf firmware_images test_device firmware_kernels)
add_dependencies(hang_zoo_test ${hang_zoo_kernels})
target_compile_definitions(hang_zoo_test PRIVATE HANG_ZOO="${CMAKE_CURRENT_BINARY_DIR}/hang_zoo")
ttfd_test(NAME directed_damage_test LABELS fault TIMEOUT 300 SRCS ${CMAKE_CURRENT_LIST_DIR}/directed_damage_test.cc
  DEPS daemon_core runtime_elf firmware_images test_device firmware_kernels)
add_dependencies(directed_damage_test ${hang_zoo_kernels})
target_compile_definitions(directed_damage_test PRIVATE HANG_ZOO="${CMAKE_CURRENT_BINARY_DIR}/hang_zoo")
# Once more where the device does not report its quiescence. Left out: the case whose many hangs each last a timeout.
ttfd_test_on_kmd(hang_zoo_test LABELS fault FILTER -*ManyResets*)
ttfd_test(NAME control_lane_test NO_TSAN LABELS fault SRCS ${CMAKE_CURRENT_LIST_DIR}/control_lane_test.cc
  DEPS core_fixture test_rpc_support ttfd_client)
