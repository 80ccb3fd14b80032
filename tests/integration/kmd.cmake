# Suites of the runtime once more, on the kmd backend over the stand-in for the driver. One ctest a program. Left out: cases
# that expect the device to report a fault of its code, and those that wait for a deadline where nothing reports quiescence.
# ttfd_on_kmd(PROGRAM [FILTER])
function(ttfd_on_kmd program)
  add_test(NAME kmd.${program} COMMAND ${program} --gtest_brief=1 --gtest_filter=${ARGN})
  set_tests_properties(kmd.${program} PROPERTIES LABELS "integration;kmd-standin" TIMEOUT 120
    ENVIRONMENT TTFD_TEST_DEVICE=kmd-standin)
endfunction()
ttfd_on_kmd(dispatch_boot_test -*.PassesOnWhatTheDeviceSaysWhenFirmwareFaults:*.NamesTheHartThatNeverSpeaks:*.GivesUpOnAHartThatRunsForEver)
ttfd_on_kmd(dispatch_launch_test *)
ttfd_on_kmd(dispatch_queues_test *)
ttfd_on_kmd(dispatch_trace_test *)
ttfd_on_kmd(dispatch_transfer_test -*.AreClearedAfterUse*)
