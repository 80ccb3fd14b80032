ttfd_test(NAME dispatch_transfer_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/dispatch_transfer_test.cc
  DEPS runtime_dispatch runtime_device_sim)
