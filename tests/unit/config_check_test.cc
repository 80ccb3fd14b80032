// The configuration against the machine: what it names must be there, and looking leaves nothing behind.
#include "daemon/config_check.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace ttfd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ConfigCheck : public ::testing::Test {
 protected:
  ConfigCheck() { options_.hangs.folder = folder_.path(); }
  // The message, with `key` set in line 7 of the file; empty: the configuration is right.
  std::string Check(const std::string& key = "") {
    Origins origins;
    origins.Set("hangs.folder", "f.toml:1");
    if (!key.empty()) origins.Set(key, "f.toml:7");
    return std::string(StatusMessage(CheckConfiguration(origins, {}, &options_)));
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  size_t Entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
  Options options_;
};

TEST_F(ConfigCheck, Groups_MustExistWhereTheyAreNamed) {
  options_.listen.group = "no-such-group";
  EXPECT_EQ(Check("listen.group"),
            "f.toml:7: listen.group: there is no group 'no-such-group' on this machine");
  options_.listen.group = getgrgid(0)->gr_name;
  EXPECT_EQ(Check("listen.group"), "");
  options_.roles.admin = {getgrgid(0)->gr_name, "no-such-group"};
  EXPECT_THAT(Check("roles.admin"), StartsWith("f.toml:7: roles.admin: there is no group"));
  EXPECT_EQ(Check(), "") << "the default groups need not exist";
}

TEST_F(ConfigCheck, AuditFile_MustBeWritable) {
  options_.audit_file = Path("audit.log");
  EXPECT_EQ(Check("log.audit_file"), "");
  EXPECT_EQ(Entries(), 0u) << "nothing is left behind";
  options_.audit_file = Path("none/audit.log");
  EXPECT_THAT(Check("log.audit_file"),
              StartsWith("f.toml:7: log.audit_file: '" + options_.audit_file + "' cannot be made"));
  options_.audit_file = folder_.path();
  EXPECT_THAT(Check("log.audit_file"), HasSubstr("is a folder"));
  fs::create_symlink("/tmp/elsewhere", Path("link"));
  options_.audit_file = Path("link");
  EXPECT_THAT(Check("log.audit_file"), HasSubstr("is a symbolic link"));
  std::ofstream(Path("there.log")) << "a line\n";
  options_.audit_file = Path("there.log");
  EXPECT_EQ(Check("log.audit_file"), "");
}

TEST_F(ConfigCheck, HangFolder_MustBeWritable) {
  options_.hangs.folder = Path("to/be/made");
  EXPECT_EQ(Check("hangs.folder"), "");
  EXPECT_EQ(Entries(), 0u) << "nothing is left behind";
  std::ofstream(Path("file")) << "";
  options_.hangs.folder = Path("file/hangs");
  EXPECT_THAT(Check("hangs.folder"), StartsWith("f.toml:7: hangs.folder: '" + Path("file/hangs") +
                                                "' cannot be used: " + Path("file")));
  options_.hangs.folder = "/proc/hangs";
  EXPECT_THAT(Check("hangs.folder"), StartsWith("f.toml:7: hangs.folder: "));
  options_.hangs.folder = "";
  EXPECT_EQ(Check("hangs.folder"), "") << "hangs are only logged";
}

TEST_F(ConfigCheck, Tls_EachFileIsReportedWithItsLine) {
  options_.tls = {"127.0.0.1:7443", Path("cert.pem"), Path("key.pem"), Path("ca.pem"), 1000};
  EXPECT_THAT(Check("tls.certificate"),
              StartsWith("f.toml:7: tls.certificate: cannot read the certificate"));
  options_.tls.address = "localhost:7443";
  EXPECT_THAT(Check("tls.address"), StartsWith("f.toml:7: tls.address: 'localhost:7443' is no"));
}

TEST_F(ConfigCheck, DefaultHangFolder_IsOneThatWorks) {
  const auto chosen = [](const StateFolders& folders, const std::string& standard) {
    Options options;
    options.hangs.folder = standard;
    EXPECT_TRUE(CheckConfiguration({}, folders, &options).ok());
    return options.hangs.folder;
  };
  const std::string missing = Path("none/hangs");
  fs::create_directory(Path("lib"));
  EXPECT_EQ(chosen({Path("service"), Path("home")}, Path("lib/hangs")), Path("service/hangs"));
  EXPECT_EQ(chosen({"", Path("home")}, Path("lib/hangs")), Path("lib/hangs"));
  EXPECT_EQ(chosen({"", Path("home")}, missing), Path("home/ttfd/hangs"));
  EXPECT_EQ(chosen({"", "/proc/none"}, missing), "") << "hangs are only logged";
  EXPECT_EQ(chosen({}, missing), "");
  Options service;
  EXPECT_THAT(
      std::string(StatusMessage(CheckConfiguration({}, {"/proc/none", Path("home")}, &service))),
      StartsWith("hangs.folder: '/proc/none/hangs' cannot be used"))
      << "a service does not look elsewhere";
}

TEST_F(ConfigCheck, Rights_AreThoseOfTheUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  options_.audit_file = Path("audit.log");
  ASSERT_EQ(seteuid(65534), 0);
  const std::string audit = Check("log.audit_file");
  options_.audit_file = "";
  const std::string hangs = Check();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_THAT(audit, HasSubstr("user 65534 cannot make files in folder " + folder_.path()));
  EXPECT_THAT(hangs, HasSubstr("user 65534 cannot make files in folder " + folder_.path()));
}

}  // namespace
}  // namespace ttfd
