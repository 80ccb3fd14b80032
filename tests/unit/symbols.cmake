find_program(TTFD_RISCV_ADDR2LINE riscv64-unknown-elf-addr2line REQUIRED)
ttfd_test(NAME symbols_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/symbols_test.cc
  DEPS runtime_boot runtime_elf firmware_images firmware_kernels)
target_compile_definitions(symbols_test PRIVATE TTFD_ADDR2LINE="${TTFD_RISCV_ADDR2LINE}"
  KERNEL_FOLDER="${PROJECT_BINARY_DIR}/firmware/kernels" IMAGE_FOLDER="${PROJECT_BINARY_DIR}/firmware/images")
