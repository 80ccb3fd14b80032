// A Python client in a process of its own (python_client.py): blocking launches, steps of a Llama, graphs.
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "tests/bench/bench_case.h"
#include "tests/bench/child.h"

namespace ttfd::bench {
namespace {

constexpr std::chrono::seconds kChildTimeout{60};

class PythonClient {
 public:
  PythonClient(std::string package, std::string folder, AddressFunction address)
      : package_(std::move(package)), folder_(std::move(folder)), address_(std::move(address)) {}

  StatusOr<double> LaunchMicroseconds(std::chrono::nanoseconds budget) {
    return Measure("launch " + Milliseconds(budget));
  }
  StatusOr<double> LlamaMilliseconds(std::chrono::nanoseconds budget) {
    return Measure("llama " + Milliseconds(budget));
  }
  StatusOr<double> UploadSeconds(std::chrono::nanoseconds budget) {
    return Measure(budget < std::chrono::milliseconds(50) ? "upload 1000" : "upload 1000000");
  }

 private:
  static std::string Milliseconds(std::chrono::nanoseconds budget) {
    return std::to_string(std::chrono::duration<double, std::milli>(budget).count());
  }

  StatusOr<double> Measure(const std::string& line) {
    if (child_ == nullptr) RETURN_IF_ERROR(Start());
    RETURN_IF_ERROR(child_->Tell(line));
    ASSIGN_OR_RETURN(const std::string figure, child_->WaitForLine("figure ", kChildTimeout));
    return std::stod(figure.substr(7));
  }

  Status Start() {
    ASSIGN_OR_RETURN(const std::string address, address_());
    const std::string elf = folder_ + "/empty.elf";
    const auto bytes = KernelElf("empty");
    std::ofstream file(elf, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) return Internal("cannot write {}", elf);
    ASSIGN_OR_RETURN(child_, Child::Start({"/usr/bin/python3", "-B", TTFD_BENCH_PYTHON_CLIENT,
                                           package_, address, elf, TTFD_BENCH_LLAMA},
                                          folder_ + "/python.log"));
    return child_->WaitForLine("ready", kChildTimeout).status();
  }

  const std::string package_;
  const std::string folder_;
  const AddressFunction address_;
  std::unique_ptr<Child> child_;
};

}  // namespace

PythonCaseSet PythonCases(const std::string& package, const std::string& folder,
                          AddressFunction address) {
  const auto client = std::make_shared<PythonClient>(package, folder, std::move(address));
  return {
      {"python.launch_us", "us",
       [client](std::chrono::nanoseconds budget) { return client->LaunchMicroseconds(budget); }},
      {"llama.step_ms", "ms",
       [client](std::chrono::nanoseconds budget) { return client->LlamaMilliseconds(budget); }},
      {"graph.upload_1m_python_s", "s",
       [client](std::chrono::nanoseconds budget) { return client->UploadSeconds(budget); }},
  };
}

}  // namespace ttfd::bench
