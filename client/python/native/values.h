// Python values as those of libttfd, and back. Python checks them before (client/python/ttfd/check.py).
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ttfd/queue.h"
#include "ttfd/session.h"
#include "ttfd/status.h"

namespace ttfd::python {

namespace py = pybind11;

// x0, y0, x1, y1.
using Range = std::array<uint32_t, 4>;
// Kernel, common words, (word, handle) of buffers among them, words for each tile, these words.
using Arguments = std::tuple<uint32_t, std::vector<uint32_t>,
                             std::vector<std::pair<uint32_t, uint64_t>>, uint32_t, py::object>;
// Handle of the program, arguments, timeout in ms; 0: none.
using Launch = std::tuple<uint64_t, std::vector<Arguments>, uint32_t>;
using Patch = std::pair<uint32_t, Arguments>;
// Handle, processor, tiles, whether it is callable, whether it is configured.
using KernelUse = std::tuple<uint64_t, uint8_t, std::vector<Range>, bool, bool>;
// Index, pages, page bytes, tiles, format, handle of the buffer it lies on.
using CircularBuffer =
    std::tuple<uint32_t, uint32_t, uint32_t, std::vector<Range>, uint8_t, std::optional<uint64_t>>;
using Semaphore = std::tuple<uint32_t, uint32_t, std::vector<Range>>;

// The contiguous bytes of an object with the buffer protocol, pinned while this lives. Holds the GIL when
// it is made and destroyed.
class BytesView {
 public:
  BytesView(const py::object& object, bool writable);
  ~BytesView();
  BytesView(const BytesView&) = delete;
  BytesView& operator=(const BytesView&) = delete;

  std::span<const std::byte> bytes() const { return {data(), size()}; }
  std::span<std::byte> writable() const { return {data(), size()}; }

 private:
  std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

  Py_buffer view_ = {};
};

// Paths of ca, certificate and key, server name, milliseconds of keepalive.
using Tls = std::tuple<std::string, std::string, std::string, std::string, int64_t>;
client::TlsOptions ToTls(const Tls& tls);

std::vector<client::CoreRange> ToRanges(const std::vector<Range>& ranges);
client::LaunchRequest ToLaunch(const Launch& launch);
client::ReplayRequest ToReplay(uint64_t trace, const std::vector<Patch>& patches);
client::ProgramBuilder ToProgram(const std::vector<KernelUse>& kernels,
                                 const std::vector<CircularBuffer>& circular_buffers,
                                 const std::vector<Semaphore>& semaphores);

// UTF-8 of another process: what is none becomes replacement characters.
py::str ToText(const std::string& text);
// The classes of plain values that the daemon reports: Device, Limits, KernelPrint, LeaseWait; Code and
// ExecutionState.
void BindValues(py::module_& module);

// The ttfd.Error of a status that is not OK.
py::object ToError(const client::Status& status);
// Raises what a signal handler has raised during a call, or else the error of the status.
void Check(const client::Status& status);
template <typename T>
T Take(client::Result<T> result) {
  Check(result.status());
  return *std::move(result);
}

}  // namespace ttfd::python
