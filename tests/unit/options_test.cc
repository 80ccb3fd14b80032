// What the daemon was told: precedence, every refusal with its place, and deploy/ttfd.toml in step with the code.
#include "daemon/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace ttfd {
namespace {

using ::testing::HasSubstr;

std::string WriteFile(const std::string& text) {
  static const TemporaryFolder folder;
  std::string path = folder.path() + "/ttfd.toml";
  std::ofstream(path) << text;
  return path;
}

StatusOr<Invocation> Read(std::vector<const char*> arguments,
                          const std::map<std::string, std::string>& environment) {
  for (const char* name : {"TTFD_ADDRESS", "TTFD_CONFIG"}) {
    const auto found = environment.find(name);
    if (found == environment.end()) {
      unsetenv(name);
    } else {
      setenv(name, found->second.c_str(), 1);
    }
  }
  arguments.insert(arguments.begin(), "ttfd");
  return ReadInvocation(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const std::string config = WriteFile("[listen]\naddress = \"unix:/run/file.sock\"\n");
  const std::string empty = WriteFile("") + ".empty";
  std::ofstream(empty) << "";
  const std::map<std::string, std::string> address = {
      {"TTFD_ADDRESS", "unix:/run/environment.sock"}};
  EXPECT_EQ(Read({"--config", empty.c_str()}, {})->options.listen.address,
            "unix:/run/ttfd/ttfd.sock");
  std::ofstream(config) << "[listen]\naddress = \"unix:/run/file.sock\"\n";
  EXPECT_EQ(Read({"--config", config.c_str()}, {})->options.listen.address, "unix:/run/file.sock");
  EXPECT_EQ(Read({}, {{"TTFD_CONFIG", config}})->options.listen.address, "unix:/run/file.sock");
  EXPECT_EQ(Read({}, {{"TTFD_CONFIG", config}})->config_path, config);
  EXPECT_EQ(Read({"--config", config.c_str()}, address)->options.listen.address,
            "unix:/run/environment.sock");
  EXPECT_EQ(Read({"--config", config.c_str(), "--socket", "/run/flag.sock"}, address)
                ->options.listen.address,
            "unix:/run/flag.sock");
  EXPECT_EQ(Read({"--config", empty.c_str()}, {{"TTFD_CONFIG", "/nowhere.toml"}})->config_path,
            empty);
}

TEST(Options, CommandLineSaysWhatToDo) {
  const std::string config = WriteFile("");
  using Action = Invocation::Action;
  const auto serve = Read({"--config", config.c_str(), "--device", "sim:board=p100a", "--record",
                           "r.bin", "--log-level", "debug"},
                          {});
  ASSERT_TRUE(serve.ok()) << serve.status();
  EXPECT_EQ(serve->action, Action::kServe);
  EXPECT_THAT(serve->options.device.devices, ::testing::ElementsAre("sim:board=p100a"));
  EXPECT_EQ(serve->options.device.record_path, "r.bin");
  EXPECT_EQ(serve->options.log_level, "debug");
  EXPECT_EQ(Read({"--config", config.c_str(), "--check-config"}, {})->action, Action::kCheckConfig);
  const auto decode = Read({"decode", "r.bin", "--json"}, {});
  ASSERT_TRUE(decode.ok()) << decode.status();
  EXPECT_EQ(decode->action, Action::kDecode);
  EXPECT_EQ(decode->decode_path, "r.bin");
  EXPECT_TRUE(decode->decode_json);
  const auto version = Read({"--version"}, {});
  EXPECT_EQ(version->action, Action::kPrint);
  EXPECT_THAT(version->text, HasSubstr("ttfd 0."));
  EXPECT_THAT(Read({"--help"}, {})->text, HasSubstr("--check-config"));
}

TEST(Options, CommandLineRefusals) {
  const std::string config = WriteFile("");
  const std::vector<std::pair<std::vector<const char*>, const char*>> table = {
      {{"--nonsense"}, "--nonsense"},
      {{"decode"}, "FILE"},
      {{"more"}, "more"},
      {{"--config", "/nowhere/ttfd.toml"}, "/nowhere/ttfd.toml"},
      {{"--config", "/tmp"}, "/tmp"},
      {{"--config", config.c_str(), "--socket", "localhost:50051"}, "unix sockets only"},
      {{"--config", config.c_str(), "--log-level", "loud"}, "loud"},
  };
  for (const auto& [arguments, said] : table) {
    const auto read = Read(arguments, {});
    ASSERT_EQ(read.status().code(), StatusCode::kInvalidArgument) << said;
    EXPECT_THAT(read.status().ToString(), HasSubstr(said));
  }
}

struct BadToml {
  const char* text;
  std::vector<std::string> said;
};

TEST(Options, BadConfigurationIsRefusedWithKeyAndLine) {
  const std::vector<BadToml> table = {
      {"[listen]\nadress = \"x\"\n", {"f.toml:2", "'adress'", "[listen]"}},
      {"\n[listening]\n", {"f.toml:2", "'listening'"}},
      {"listen = 3\n", {"f.toml:1", "[listen]"}},
      {"[listen\n", {"f.toml:1"}},
      {"[listen]\naddress = 5\n", {"f.toml:2", "listen.address", "string"}},
      {"[listen]\nmode = 660\n", {"listen.mode", "\"0660\""}},
      {"[listen]\nmode = \"0888\"\n", {"listen.mode"}},
      {"[listen]\nmode = \"7777\"\n", {"listen.mode"}},
      {"[listen]\nconnections = 0\n", {"listen.connections", "from 1 to 100000"}},
      {"[listen]\nconnections = -1\n", {"listen.connections", "from 1 to 100000"}},
      {"[listen]\nconnections = 1.5\n", {"listen.connections", "whole number"}},
      {"[limits]\nchunk_bytes = 99999999\n", {"limits.chunk_bytes", "4096"}},
      {"[limits]\nmessage_bytes = 99999999\n", {"limits.message_bytes", "67108864"}},
      {"[limits]\nbuffer = 9\n", {"'buffer'"}},
      {"[timeouts]\nkernel_ms = \"1s\"\n", {"f.toml:2", "timeouts.kernel_ms"}},
      {"[roles]\nadmin = \"wheel\"\n", {"roles.admin", "list of names"}},
      {"[roles]\nadmin = [\"wheel\", 3]\n", {"roles.admin", "list of names"}},
      {"[log]\nlevel = true\n", {"log.level"}},
  };
  for (const BadToml& bad : table) {
    Options options;
    Origins origins;
    const Status status = ApplyToml(bad.text, "f.toml", &options, &origins);
    ASSERT_EQ(status.code(), StatusCode::kInvalidArgument) << bad.text;
    for (const std::string& said : bad.said)
      EXPECT_THAT(status.ToString(), HasSubstr(said)) << bad.text;
  }
}

TEST(Options, ValuesThatContradictEachOtherAreRefused) {
  Options options;
  options.listen.connections = 10;
  options.listen.connections_per_user = 11;
  Origins origins;
  origins.Set("listen.connections_per_user", "f.toml:7");
  EXPECT_EQ(
      StatusMessage(CheckOptions(origins, &options)),
      "f.toml:7: listen.connections_per_user: it is 11, more than listen.connections with 10");
}

TEST(Options, AddressesHaveOneForm) {
  for (const auto& [given, path] :
       std::map<std::string, std::string>{{"unix:/run/a.sock", "/run/a.sock"},
                                          {"unix:///run/a.sock", "/run/a.sock"},
                                          {"/run/a.sock", "/run/a.sock"},
                                          {"./a.sock", "./a.sock"},
                                          {"a.sock", "a.sock"},
                                          {"run/a.sock", "run/a.sock"},
                                          {"./a:b.sock", "./a:b.sock"},
                                          {"unix:a.sock", "a.sock"}}) {
    Options options;
    options.listen.address = given;
    ASSERT_TRUE(CheckOptions({}, &options).ok()) << given;
    EXPECT_EQ(SocketPath(options.listen), path);
    EXPECT_EQ(options.listen.address, "unix:" + path);
  }
  for (const std::string& bad : {std::string("unix:"), std::string(), std::string("dns:///host"),
                                 std::string("localhost:1234"), "/" + std::string(107, 'a')}) {
    Options options;
    options.listen.address = bad;
    EXPECT_FALSE(CheckOptions({}, &options).ok()) << bad;
  }
}

TEST(Options, Origins_NameWhatSetAnOption) {
  const std::string config = WriteFile("[listen]\n\naddress = \"unix:/run/file.sock\"\n");
  const auto file = Read({"--config", config.c_str()}, {});
  EXPECT_EQ(file->origins.Where("listen.address"), config + ":3: listen.address");
  EXPECT_EQ(file->origins.Where("log.level"), "log.level");
  EXPECT_FALSE(file->origins.Has("log.level"));
  EXPECT_EQ(Read({"--config", config.c_str()}, {{"TTFD_ADDRESS", "unix:/run/e.sock"}})
                ->origins.Where("listen.address"),
            "TTFD_ADDRESS");
  EXPECT_EQ(Read({"--config", config.c_str(), "--socket", "/run/f.sock"}, {})
                ->origins.Where("listen.address"),
            "--socket");
  std::ofstream(config) << "[log]\nlevel = \"loud\"\n";
  EXPECT_EQ(StatusMessage(Read({"--config", config.c_str()}, {}).status()),
            config + ":2: log.level: 'loud' is none of debug, info, warning, error");
}

TEST(Options, UnknownKeys_SuggestTheNearest) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"[limits]\nqueue = 3\n", "did you mean 'queues'?"},
      {"[listen]\nadress = \"x\"\n", "did you mean 'address'?"},
      {"[scheduler]\nqueues = 3\n", "did you mean 'queues' in [limits]?"},
      {"[limit]\nqueues = 3\n", "did you mean [limits]?"},
  };
  for (const auto& [text, said] : table) {
    Options options;
    Origins origins;
    EXPECT_THAT(ApplyToml(text, "f.toml", &options, &origins).ToString(), HasSubstr(said)) << text;
  }
  Options options;
  Origins origins;
  EXPECT_THAT(ApplyToml("[limits]\nsomething_else = 3\n", "f.toml", &options, &origins).ToString(),
              ::testing::Not(HasSubstr("did you mean")));
}

std::string Repeat(const char* text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

TEST(Options, DeepNesting_IsRefusedWithItsLine) {
  const std::string key = Repeat("a.", 20'000) + "a";
  std::string lines = "a = [\n";
  for (int i = 0; i < 1'000; ++i) lines += "{a.a.a.a.a.a.a.a = [\n";
  for (const std::string& text :
       {key + " = 1\n", "[" + key + "]\n", "x = {" + key + " = 1}\n", "x = " + Repeat("[", 20'000),
        lines, "x = " + Repeat("{a=", 20'000)}) {
    Options options;
    Origins origins;
    const Status status = ApplyToml("\n" + text, "f.toml", &options, &origins);
    EXPECT_THAT(status.ToString(), ::testing::ContainsRegex("f.toml:[0-9]+: more than 16"));
  }
}

TEST(Options, DotsInStringsAndComments_AreNotNesting) {
  const std::string dots = Repeat("x.", 100);
  const std::string text = "# " + dots + " \"\n[hangs]\nfolder = \"/" + dots +
                           "\\\"\"  # '\n[log]\nlevel = 'debug'\naudit_file = \"\"\"\n" + dots +
                           "\n\"" + dots + "\"\"\"\n";
  Options options;
  Origins origins;
  const Status status = ApplyToml(text, "f.toml", &options, &origins);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(options.hangs.folder, "/" + dots + "\"");
  EXPECT_EQ(options.audit_file, dots + "\n\"" + dots);
  EXPECT_EQ(origins.Where("log.level"), "f.toml:5: log.level");
}

TEST(Options, HugeFiles_AreRefused) {
  const std::string config = WriteFile(std::string(2 << 20, '\n'));
  EXPECT_THAT(Read({"--config", config.c_str()}, {}).status().ToString(), HasSubstr("more than"));
  EXPECT_THAT(Read({"--config", "/dev/zero"}, {}).status().ToString(), HasSubstr("more than"));
}

// Uncomments every option of the shipped file.
std::string ShippedWithEverythingOn(std::string* keys) {
  std::ifstream file(TTFD_SHIPPED_CONFIG);
  std::ostringstream text;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex(R"(\[(\w+)\])"))) section = match[1];
    if (std::regex_match(line, match, std::regex(R"(#(\w+) = .*)"))) {
      *keys += section + "." + match[1].str() + "\n";
      line.erase(0, 1);
    }
    text << line << "\n";
  }
  return text.str();
}

TEST(Options, TcpNeedsEveryCertificateOrIsOff) {
  Options options;
  options.tls.address = "127.0.0.1:7443";
  EXPECT_THAT(CheckOptions({}, &options).ToString(), HasSubstr("all or none"));
  options.tls.certificate = options.tls.key = "a.pem";
  EXPECT_FALSE(CheckOptions({}, &options).ok());
  options.tls.client_ca = "ca.pem";
  EXPECT_TRUE(CheckOptions({}, &options).ok());
  options.tls.address.clear();
  EXPECT_FALSE(CheckOptions({}, &options).ok());
}

TEST(Options, ShippedFileNamesEveryKeyWithItsDefault) {
  std::string keys;
  const std::string text = ShippedWithEverythingOn(&keys);
  std::string expected;
  for (const std::string& key : TomlKeys()) expected += key + "\n";
  EXPECT_EQ(keys, expected) << "the same keys in the same order";

  // Reading all defaults from the file changes nothing. Each key is tried over a value that is not the default.
  const Options defaults;
  Options read;
  read.listen.address = read.log_level = "changed";
  read.device.devices = {"changed", "too"};
  read.listen.group = "changed";
  read.listen.mode = 0;
  read.roles = {};
  read.limits.handles = read.drain_ms = read.scheduler.window_us = 1;
  read.timeouts = {1, 1, 1, 1};
  Origins origins;
  const Status applied = ApplyToml(text, "ttfd.toml", &read, &origins);
  ASSERT_TRUE(applied.ok()) << applied;
  for (const std::string& key : TomlKeys()) EXPECT_TRUE(origins.Has(key)) << key;
  EXPECT_EQ(read.listen.address, defaults.listen.address);
  EXPECT_EQ(read.listen.mode, defaults.listen.mode);
  EXPECT_EQ(read.listen.group, defaults.listen.group);
  EXPECT_EQ(read.listen.connections, defaults.listen.connections);
  EXPECT_EQ(read.listen.memory_bytes, defaults.listen.memory_bytes);
  EXPECT_EQ(read.device.devices, defaults.device.devices);
  EXPECT_EQ(read.device.issue_ring_bytes, defaults.device.issue_ring_bytes);
  EXPECT_EQ(read.limits.handles, defaults.limits.handles);
  EXPECT_EQ(read.limits.dram_bytes, defaults.limits.dram_bytes);
  EXPECT_EQ(read.limits.l1_bytes, defaults.limits.l1_bytes);
  EXPECT_EQ(read.limits.transfer_bytes, defaults.limits.transfer_bytes);
  EXPECT_EQ(read.timeouts.kernel_ms, defaults.timeouts.kernel_ms);
  EXPECT_EQ(read.timeouts.start_ms, defaults.timeouts.start_ms);
  EXPECT_EQ(read.scheduler.window_us, defaults.scheduler.window_us);
  EXPECT_EQ(read.roles.observe, defaults.roles.observe);
  EXPECT_TRUE(defaults.roles.observe.empty()) << "administrators alone";
  EXPECT_EQ(read.roles.admin, defaults.roles.admin);
  EXPECT_EQ(read.log_level, defaults.log_level);
  EXPECT_EQ(read.drain_ms, defaults.drain_ms);
}

}  // namespace
}  // namespace ttfd
