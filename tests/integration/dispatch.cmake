foreach(name IN ITEMS dispatch_transfer_test dispatch_launch_test)
  ttfd_test(NAME ${name} LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc
    DEPS runtime_dispatch runtime_device_sim firmware_kernels)
endforeach()
