# Instructions and refusals of the embedded device.
ttfd_test(NAME isa_test LABELS isa DEPS runtime_device_sim
  SRCS ${CMAKE_CURRENT_LIST_DIR}/instruction_test.cc ${CMAKE_CURRENT_LIST_DIR}/refusal_test.cc)
