# Suites of the runtime once more, on the kmd backend over the stand-in for the driver. Left out: the case that expects the
# device to report a fault of its code.
function(ttfd_on_kmd program)
  ttfd_test_again(${program} PREFIX kmd. LABELS integration kmd-standin ENVIRONMENT TTFD_TEST_DEVICE=kmd-standin ${ARGN})
endfunction()
ttfd_on_kmd(dispatch_boot_test FILTER -*.PassesOnWhatTheDeviceSaysWhenFirmwareFaults)
ttfd_on_kmd(dispatch_launch_test)
ttfd_on_kmd(dispatch_queues_test)
ttfd_on_kmd(dispatch_trace_test)
ttfd_on_kmd(dispatch_transfer_test)
