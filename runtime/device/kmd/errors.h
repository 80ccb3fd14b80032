// Refusals of the driver as sentences for a person: what happened, what is allowed, what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/pci.h"

namespace ttfd::kmd {

// `error` is the errno of opening `node`; `module_version` that of the loaded driver, if there is one.
Status OpenError(const std::string& node, int error,
                 const std::optional<std::string>& module_version);
// The driver has no node for a PCI address; `nodes` are there.
Status NoSuchCard(const std::string& pci_address, const std::vector<std::string>& nodes,
                  const std::optional<std::string>& module_version);
Status NotABlackhole(const std::string& node, const PciId& id);
// `processes` have the node open; may be empty, since drivers before 2.5 do not list them.
Status HeldByAnother(const std::string& node, const std::vector<std::string>& processes);
// A hardware window could not be reserved, although this process gave up none.
Status WindowRefused(int error);
Status PinRefused(int error, uint64_t bytes);
// Without an IOMMU and without the hugepages for `bytes` of host memory.
Status NoHugepages(uint64_t bytes);
// A hugepage got the NoC address `address`, not the one below `expected_end`.
Status ArenaScattered(uint64_t address, uint64_t expected_end);
// Host memory lies from `first` to `last`, where device code does not reach it.
Status ArenaOutside(uint64_t first, uint64_t last);
// `largest` contiguous bytes are free, of `all` that were pinned.
Status ArenaFull(uint64_t bytes, uint64_t largest, uint64_t all);
// UNAVAILABLE, which stays until the node is opened again. `symptom`: how it showed.
Status CardLost(const std::string& node, std::string_view symptom);
// DATA_LOSS: the driver serves the card, whose chip answers all ones.
Status CardSilent(const std::string& node);
// The card that came back is not like the one that was lost.
Status AnotherCard(const std::string& node);
// UNAVAILABLE: the driver has no node for the lost card yet.
Status NotBack(const std::string& pci_address);

// The driver's reset of the chip could not be `what` ("begun", "ended").
Status ResetFailed(const std::string& node, std::string_view what, std::string_view why);
Status ResetUnknown(const DriverVersion& version);
// The driver does not arrange for what it is to do when this process ends.
Status CleanupRefused(const std::string& node, int error);

}  // namespace ttfd::kmd
