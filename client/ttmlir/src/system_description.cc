// The description of a card, by the profile of the schema that is wanted.
#include "ttfd/ttmlir/system_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "client/ttmlir/src/profiles.h"
#include "client/ttmlir/src/whole_file.h"
#include "client/ttmlir/src/writer.h"
#include "ttfd/tensor/spec.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::DeviceInfo;
using client::Result;
using client::Status;
using Json = nlohmann::json;

constexpr std::string_view kNewestSchema = "92f6a8a87b72";  // tt-mlir 71046369, 2026-08
constexpr std::string_view kProfiles = "system-";
constexpr size_t kGitHashDigits = 40;

// Reads of host memory by the NoC: both addresses equal modulo 64 (NOC_PCIE_READ_ALIGNMENT_BYTES of Blackhole,
// tt-metal noc_parameters.h).
constexpr uint32_t kPcieAlignment = 64;
// The L1 of an Ethernet tile (tt-isa-documentation BlackholeA0/EthernetTile): all of it is taken, since clients have no
// Ethernet tiles.
constexpr uint32_t kEthernetL1Bytes = 512 * 1024;
// Dst has 1024 rows of 16 numbers of 16 bits, which are 16 tiles. The compiler gives a kernel half of them, or a
// quarter with 32 bits. Kernels of TTMetal files have 8 tiles of 32 bits here.
constexpr uint32_t kDstTiles = 16;
constexpr uint32_t kTileSide = 32;
constexpr uint32_t kComputeKernels = 1;       // on TRISC0, TRISC1 and TRISC2 together
constexpr uint32_t kDataMovementKernels = 2;  // on BRISC and NCRISC

Json Dim(uint32_t y, uint32_t x) { return {{"y", y}, {"x", x}}; }
Json Dim(client::Coordinate at) { return Dim(at.y, at.x); }

// The type of a tensor as schemas name it. Narrower integers of a program become kUInt32: they are not claimed.
std::vector<std::string> NamesOf(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kBFloat16:
      return {"BFloat16"};
    case tensor::DType::kFloat32:
      return {"Float32"};
    case tensor::DType::kBfp8:
      return {"BFP_BFloat8"};
    case tensor::DType::kUInt32:
      return {"UInt32", "Int32"};
  }
  return {};
}

Json DataTypes() {
  Json names = Json::array();
  for (const tensor::DType dtype : tensor::kDTypes) {
    for (const std::string& name : NamesOf(dtype)) names.push_back(name);
  }
  return names;
}

// NoC coordinates as kernels use them, of tiles by their part. No Ethernet tiles: clients have none.
Json PhysicalCores(const DeviceInfo& device) {
  Json workers = Json::array();
  for (const uint32_t y : device.worker_y) {
    for (const uint32_t x : device.worker_x) workers.push_back(Dim(y, x));
  }
  Json ports = Json::array();
  for (const client::DramBank& bank : device.banks) ports.push_back(Dim(bank.port));
  return {{"worker", workers},
          {"dram", ports},
          {"eth", Json::array()},
          {"eth_inactive", Json::array()}};
}

// All fields that any version of the schema has.
Json ChipOf(const DeviceInfo& device) {
  // The same for both NoCs, as tt-metal has it for Blackhole.
  Json nearest = Json::array();
  for (const client::DramBank& bank : device.banks) nearest.push_back(Dim(bank.nearest_worker));
  const uint64_t dram_end = device.dram_base + device.dram_bank_bytes;
  return {{"arch", "Blackhole"},
          {"grid_size", Dim(device.grid_y, device.grid_x)},
          {"coord_translation_offsets", Dim(device.worker_y.front(), device.worker_x.front())},
          {"l1_size", device.l1_base + device.l1_bytes},
          {"num_dram_channels", device.dram_banks},
          {"dram_channel_size", device.dram_bank_size},
          {"noc_l1_address_align_bytes", device.l1_alignment},
          {"pcie_address_align_bytes", kPcieAlignment},
          {"noc_dram_address_align_bytes", device.dram_alignment},
          {"l1_unreserved_base", device.l1_base},
          {"erisc_l1_unreserved_base", kEthernetL1Bytes},
          {"dram_unreserved_base", device.dram_base},
          {"dram_unreserved_end", dram_end},
          {"physical_cores", PhysicalCores(device)},
          {"supported_data_types", DataTypes()},
          {"supported_tile_sizes", Json::array({Dim(kTileSide, kTileSide)})},
          {"dst_physical_size_tiles", kDstTiles},
          {"num_cbs", device.circular_buffers},
          {"num_compute_threads", kComputeKernels},
          {"num_datamovement_threads", kDataMovementKernels},
          {"dram_grid_size", Dim(1, device.dram_banks)},
          {"dram_bank_to_logical_worker_noc0", nearest},
          {"dram_bank_to_logical_worker_noc1", nearest}};
}

// The host of native functions: this one.
std::string TargetTriple() {
  utsname host = {};
  uname(&host);
  return fmt::format("{}-pc-linux-gnu", host.machine);
}

// `hash` is that of the schema, or of the commit whose files have no other.
Json RootFor(const DeviceInfo& device, const std::string& hash) {
  const bool is_commit = hash.size() == kGitHashDigits;
  const Json host = {{"role", "Host"}, {"target_triple", TargetTriple()}};
  // No compiler wrote the file: its version and commit are 0.
  return {{"version", {{"major", 0}, {"minor", 0}, {"patch", 0}}},
          {"schema_hash", hash},
          {"ttmlir_git_hash", is_commit ? hash : std::string(kGitHashDigits, '0')},
          {"product_identifier", device.board},
          {"system_desc",
           {{"cpu_descs", Json::array({host})},
            {"chip_descs", Json::array({ChipOf(device)})},
            {"chip_desc_indices", Json::array({0})},
            {"chip_capabilities", Json::array({"PCIE HostMMIO"})},
            {"chip_coords", Json::array({{{"rack", 0}, {"shelf", 0}, {"y", 0}, {"x", 0}}})},
            {"chip_channels", Json::array()}}}};
}

// Leaves out what a version of the schema does not have, and finds what it has and the description does not.
class Fitting {
 public:
  Json Fit(const Definition& definition, const Json& value) {
    Json fitted = Json::object();
    for (const Field& field : definition.fields) {
      const Json one = value.contains(field.name) ? Fit(field.type, value[field.name]) : Json();
      if (one.is_null()) missing_.push_back(definition.name + "." + field.name);
      fitted[field.name] = one;
    }
    return fitted;
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  // null: a name that the type does not have.
  Json Fit(const Type& type, const Json& value) {
    if (type.list) {
      Type element = type;
      element.list = false;
      Json list = Json::array();
      for (const Json& each : value) {
        Json one = Fit(element, each);
        if (!one.is_null()) list.push_back(std::move(one));
      }
      return list;
    }
    if (IsEnum(type)) return Names(*type.definition, value.get<std::string>());
    return type.definition == nullptr ? value : Fit(*type.definition, value);
  }

  static Json Names(const Definition& definition, const std::string& wanted) {
    std::vector<std::string> names;
    for (const Definition::Member& member : definition.members) {
      const size_t at = fmt::format(" {} ", wanted).find(fmt::format(" {} ", member.name));
      if (at != std::string::npos) names.push_back(member.name);
    }
    return names.empty() ? Json() : Json(fmt::format("{}", fmt::join(names, " ")));
  }

  std::vector<std::string> missing_;
};

// The profile whose hash begins so.
Result<std::shared_ptr<const Profile>> ProfileOf(const std::string& folder,
                                                 const std::string& schema) {
  std::vector<std::string> found;
  for (const std::string& name : ProfilesIn(folder)) {
    if (!name.starts_with(kProfiles)) continue;
    const std::string digits = name.substr(kProfiles.size());
    if (digits.starts_with(schema.substr(0, digits.size()))) found.push_back(name);
  }
  if (found.size() > 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("schema {} is one of several: {}", schema, fmt::join(found, ", ")));
  }
  if (!found.empty()) {
    Result<std::shared_ptr<const Profile>> profile = Profile::Read(folder, found.front());
    if (!profile.ok() || (*profile)->hash().starts_with(schema)) return profile;
  }
  return Status(Code::kNotFound,
                fmt::format("there is no profile of system descriptions with schema {}; known: {}",
                            schema, Profiles(folder).Known("system")));
}

}  // namespace

Result<std::string> DescribeSystem(const DeviceInfo& device, const DescriptionOptions& options) {
  if (device.workers() == 0 || device.worker_x.size() != device.grid_x ||
      device.worker_y.size() != device.grid_y || device.banks.size() != device.dram_banks) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("device {} does not say where its workers and DRAM banks lie: its "
                              "daemon is older than this program; update it",
                              device.index));
  }
  const std::string folder = options.profiles.empty() ? ProfileFolder() : options.profiles;
  const Result<std::shared_ptr<const Profile>> profile =
      ProfileOf(folder, options.schema.empty() ? std::string(kNewestSchema) : options.schema);
  if (!profile.ok()) return profile.status();
  Fitting fitting;
  const Json root = fitting.Fit((*profile)->root(), RootFor(device, (*profile)->hash()));
  if (!fitting.missing().empty()) {
    return Status(Code::kUnimplemented,
                  fmt::format("schema {} has fields that are not known: {}", (*profile)->hash(),
                              fmt::join(fitting.missing(), ", ")));
  }
  return WriteFile(**profile, root);
}

Status WriteSystemDescription(const DeviceInfo& device, const std::string& path,
                              const DescriptionOptions& options) {
  const Result<std::string> bytes = DescribeSystem(device, options);
  return bytes.ok() ? WriteWholeFile(path, *bytes) : bytes.status();
}

}  // namespace ttfd::ttmlir
