# The device suite, run on every backend; what quiescence means, where it is reported.
set(conformance_dir ${CMAKE_CURRENT_LIST_DIR})
set(remote_suite ${conformance_dir}/ethernet_test.cc ${conformance_dir}/harts_test.cc ${conformance_dir}/noc_test.cc
  ${conformance_dir}/windows_test.cc)
set(device_suite ${remote_suite} ${conformance_dir}/host_memory_test.cc)
ttfd_test(NAME device_conformance LABELS conformance DEPS test_device SRCS ${conformance_dir}/backends.cc ${device_suite}
  ${conformance_dir}/parking_test.cc ${conformance_dir}/waiting_again_test.cc)
ttfd_test(NAME kmd_conformance LABELS conformance kmd-standin DEPS kmd_standin
  SRCS ${conformance_dir}/kmd_backends.cc ${conformance_dir}/chip_reset_test.cc ${device_suite})
ttfd_test_on_other_kmds(kmd_conformance LABELS conformance)
ttfd_test(NAME remote_conformance LABELS conformance DEPS test_device runtime_fabric SRCS ${conformance_dir}/remote_backends.cc ${remote_suite})
