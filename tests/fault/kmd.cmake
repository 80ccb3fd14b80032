# A fault at every call to the vendor's driver.
ttfd_test(NAME kmd_fault_test LABELS fault kmd-standin SRCS ${CMAKE_CURRENT_LIST_DIR}/kmd_fault_test.cc DEPS kmd_standin)
