# Suites of the runtime and of the daemon once more, on the kmd backend over the stand-in for the driver. Left out: cases
# that expect the device to report a fault of its code, or to look into a Tensix engine.
ttfd_test_on_kmd(dispatch_boot_test LABELS integration FILTER -*.PassesOnWhatTheDeviceSaysWhenFirmwareFaults)
ttfd_test_on_kmd(compute_engine_test LABELS integration FILTER -*KernelThatWaits*)
ttfd_test_on_kmd(dispatch_launch_test LABELS integration)
ttfd_test_on_kmd(dispatch_queues_test LABELS integration)
ttfd_test_on_kmd(dispatch_trace_test LABELS integration)
ttfd_test_on_kmd(dispatch_transfer_test LABELS integration)
ttfd_test_on_kmd(daemon_queues_test LABELS integration)
