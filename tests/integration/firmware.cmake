# The real firmware on the device model, fed by hand: no part of the runtime in between.
add_library(firmware_bench STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/firmware_bench.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/bench_queue.cc ${CMAKE_CURRENT_LIST_DIR}/../support/firmware_launch.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/firmware_cost.cc)
ttfd_compile_options(firmware_bench)
target_include_directories(firmware_bench PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(firmware_bench PUBLIC firmware_images firmware_images_small firmware_kernels test_device
  runtime_abi runtime_hw)

set(firmware_sources "")
foreach(name IN ITEMS boot completion write relay segments exec wait queues refusal launch flow park cost kernels print)
  list(APPEND firmware_sources ${CMAKE_CURRENT_LIST_DIR}/firmware_${name}_test.cc)
endforeach()
ttfd_test(NAME firmware_test LABELS integration SRCS ${firmware_sources} DEPS firmware_bench
  PACKAGES PkgConfig::CRYPTO)
