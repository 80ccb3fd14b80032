# The real firmware on the device model, fed by hand: no part of the runtime in between.
add_library(firmware_bench STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/firmware_bench.cc)
ttfd_compile_options(firmware_bench)
target_include_directories(firmware_bench PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(firmware_bench PUBLIC firmware_images firmware_kernels runtime_device_sim runtime_abi runtime_hw)

set(folder ${CMAKE_CURRENT_LIST_DIR})
ttfd_test(NAME firmware_boot_test LABELS integration SRCS ${folder}/firmware_boot_test.cc
  DEPS firmware_bench firmware_images_small)
ttfd_test(NAME firmware_dispatch_test LABELS integration
  SRCS ${folder}/firmware_completion_test.cc
  DEPS firmware_bench firmware_images_small)
