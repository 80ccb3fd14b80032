// Does what a sequence file says through the flat C interface of a simulator library and prints what came
// of it, in a form that is the same for libraries that behave the same. A refusal of the library ends it.
//
// usage: sequence_driver LIBRARY SEQUENCE. A line of the sequence is an operation; what follows a # says
// what it is for. Numbers are hexadecimal.
//   callbacks, init, exit
//   cr BDF OFFSET              configuration read        cw BDF OFFSET VALUE    and write
//   r PADDR SIZE               BAR read                  w PADDR SIZE VALUE     of at most 8 bytes
//   ww PADDR WORD...           BAR write of words        wp PADDR SIZE SEED     of a pattern
//   clock N
//   tr, tw                     the tile functions
//   hp ADDRESS SIZE SEED       pattern into host memory  hr ADDRESS SIZE        host memory as it is
//   dma                        the device's accesses to host memory so far: how many and which
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kPrintedBytes = 32;  // of more than that a hash is printed

constexpr uint64_t kStart = 0xCBF29CE484222325;

uint64_t Mix(uint64_t hash, uint64_t value) {
  for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> 8 * i & 0xFF)) * 0x100000001B3;  // FNV-1a
  return hash;
}

// Host memory: zero wherever nobody wrote, at every address.
class HostMemory {
 public:
  uint8_t& At(uint64_t address) {
    Bytes& page = pages_[address / kPageBytes];
    if (page.empty()) page.resize(kPageBytes);
    return page[address % kPageBytes];
  }
  void Note(uint64_t kind, uint64_t address, uint64_t size) {
    ++accesses_;
    hash_ += Mix(Mix(Mix(kStart, kind), address), size);  // in whatever order harts come
  }
  uint64_t accesses() const { return accesses_; }
  uint64_t hash() const { return hash_; }

 private:
  std::map<uint64_t, Bytes> pages_;
  uint64_t accesses_ = 0;
  uint64_t hash_ = 0;
};

HostMemory& Host() {
  static HostMemory memory;
  return memory;
}

void DmaRead(uint64_t address, void* to, uint32_t size) {
  Host().Note(1, address, size);
  for (uint32_t i = 0; i < size; ++i) static_cast<uint8_t*>(to)[i] = Host().At(address + i);
}

void DmaWrite(uint64_t address, const void* from, uint32_t size) {
  Host().Note(2, address, size);
  for (uint32_t i = 0; i < size; ++i) Host().At(address + i) = static_cast<const uint8_t*>(from)[i];
}

Bytes Pattern(uint64_t size, uint64_t seed) {
  Bytes bytes(size);
  uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<uint8_t>(state >> 56);
  }
  return bytes;
}

void Print(const Bytes& bytes) {
  if (bytes.size() <= kPrintedBytes) {
    for (const uint8_t byte : bytes) std::printf("%02x", byte);
    return;
  }
  uint64_t hash = kStart;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  std::printf("hash %016llx", static_cast<unsigned long long>(hash));
}

class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
  }
  template <typename Function>
  Function* Find(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (found == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* const handle_;
};

class Driver {
 public:
  explicit Driver(const Library& library)
      : set_callbacks_(library.Find<void(void (*)(uint64_t, void*, uint32_t),
                                         void (*)(uint64_t, const void*, uint32_t))>(
            "libttsim_set_pci_dma_mem_callbacks")),
        init_(library.Find<void()>("libttsim_init")),
        exit_(library.Find<void()>("libttsim_exit")),
        config_read_(library.Find<uint32_t(uint32_t, uint32_t)>("libttsim_pci_config_rd32")),
        config_write_(library.Find<void(uint32_t, uint32_t, uint32_t)>("libttsim_pci_config_wr32")),
        read_(library.Find<void(uint64_t, void*, uint32_t)>("libttsim_pci_mem_rd_bytes")),
        write_(library.Find<void(uint64_t, const void*, uint32_t)>("libttsim_pci_mem_wr_bytes")),
        clock_(library.Find<void(uint32_t)>("libttsim_clock")),
        tile_read_(library.Find<void(uint32_t, uint32_t, uint64_t, void*, uint32_t)>(
            "libttsim_tile_rd_bytes")),
        tile_write_(library.Find<void(uint32_t, uint32_t, uint64_t, const void*, uint32_t)>(
            "libttsim_tile_wr_bytes")) {}

  // False: there is no such operation.
  bool Do(const std::string& operation, const std::vector<uint64_t>& a) const {
    return Control(operation, a) || Access(operation, a) || OfHost(operation, a);
  }

 private:
  static uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }

  bool Control(const std::string& operation, const std::vector<uint64_t>& a) const {
    if (operation == "callbacks") {
      set_callbacks_(DmaRead, DmaWrite);
    } else if (operation == "init") {
      init_();
    } else if (operation == "exit") {
      exit_();
    } else if (operation == "clock" && a.size() == 1) {
      clock_(Low(a[0]));
    } else if (operation == "tr") {
      uint32_t word = 0;
      tile_read_(1, 2, 0, &word, sizeof(word));
    } else if (operation == "tw") {
      const uint32_t word = 0;
      tile_write_(1, 2, 0, &word, sizeof(word));
    } else {
      return false;
    }
    return true;
  }

  bool Access(const std::string& operation, const std::vector<uint64_t>& a) const {
    if (operation == "cr" && a.size() == 2) {
      std::printf("%08x", config_read_(Low(a[0]), Low(a[1])));
    } else if (operation == "cw" && a.size() == 3) {
      config_write_(Low(a[0]), Low(a[1]), Low(a[2]));
    } else if (operation == "r" && a.size() == 2) {
      Bytes bytes(a[1] + 1);  // one more: data() of an empty vector may be null
      read_(a[0], bytes.data(), Low(a[1]));
      bytes.pop_back();
      Print(bytes);
    } else if (operation == "w" && a.size() == 3) {
      write_(a[0], &a[2], Low(a[1]));
    } else if (operation == "ww" && a.size() > 1) {
      const std::vector<uint32_t> words(a.begin() + 1, a.end());
      write_(a[0], words.data(), Low(4 * words.size()));
    } else if (operation == "wp" && a.size() == 3) {
      write_(a[0], Pattern(a[1], a[2]).data(), Low(a[1]));
    } else {
      return false;
    }
    return true;
  }

  static bool OfHost(const std::string& operation, const std::vector<uint64_t>& a) {
    if (operation == "hp" && a.size() == 3) {
      const Bytes bytes = Pattern(a[1], a[2]);
      for (uint64_t i = 0; i < a[1]; ++i) Host().At(a[0] + i) = bytes[i];
    } else if (operation == "hr" && a.size() == 2) {
      Bytes bytes(a[1]);
      for (uint64_t i = 0; i < a[1]; ++i) bytes[i] = Host().At(a[0] + i);
      Print(bytes);
    } else if (operation == "dma") {
      std::printf("%llu %016llx", static_cast<unsigned long long>(Host().accesses()),
                  static_cast<unsigned long long>(Host().hash()));
    } else {
      return false;
    }
    return true;
  }

  void (*const set_callbacks_)(void (*)(uint64_t, void*, uint32_t),
                               void (*)(uint64_t, const void*, uint32_t));
  void (*const init_)();
  void (*const exit_)();
  uint32_t (*const config_read_)(uint32_t, uint32_t);
  void (*const config_write_)(uint32_t, uint32_t, uint32_t);
  void (*const read_)(uint64_t, void*, uint32_t);
  void (*const write_)(uint64_t, const void*, uint32_t);
  void (*const clock_)(uint32_t);
  void (*const tile_read_)(uint32_t, uint32_t, uint64_t, void*, uint32_t);
  void (*const tile_write_)(uint32_t, uint32_t, uint64_t, const void*, uint32_t);
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: sequence_driver LIBRARY SEQUENCE\n");
    return 2;
  }
  std::ifstream sequence(argv[2]);
  const Driver driver{Library(argv[1])};
  std::string line;
  for (int number = 0; std::getline(sequence, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string operation;
    if (!(words >> operation)) continue;
    words >> std::hex;
    const std::vector<uint64_t> arguments{std::istream_iterator<uint64_t>(words), {}};
    std::printf("%d ", number);
    if (!driver.Do(operation, arguments)) {
      std::fprintf(stderr, "line %d is no operation: %s\n", number, line.c_str());
      return 2;
    }
    std::printf("\n");
  }
  std::printf("end\n");
  return 0;
}
