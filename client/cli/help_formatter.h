// How ttfdctl --help looks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "client/cli/printing.h"

namespace ttfd::cli {

// Help as people read it: "--timeout SECONDS", then what it means with range and default, wrapped at 80 columns. The
// text of an option is the name of its value; the descriptions of its validators are the values that are allowed.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { label("Positionals", "Arguments"); }

  // Options of a group without a name belong to the command around it.
  std::string make_expanded(const CLI::App* group) const override {
    return make_groups(group, CLI::AppFormatMode::Sub);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& value = option->get_option_text();
    return value.empty() ? "" : " " + value;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::vector<std::string> notes = CLI::detail::split(option->get_type_name(), ':');
    notes.erase(notes.begin());  // CLI11's name of the type; those of the validators follow
    if (option->get_required() && !option->get_positional()) {
      notes.emplace_back("required");
    }
    const std::string preset = option->get_default_str();
    if (!preset.empty() && preset != "0" && preset != "[]") {
      notes.push_back("default " + preset);
    }
    const std::string& text = option->get_description();
    return notes.empty() ? text : text + " (" + CLI::detail::join(notes, ", ") + ")";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return Entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return Entry(command->get_name(), command->get_description());
  }

 private:
  static std::string Entry(const std::string& name, const std::string& text) {
    constexpr size_t kColumns = 80;
    constexpr size_t kText = 28;  // where the texts begin
    std::string entry = "  " + name;
    if (entry.size() + 2 > kText) {
      entry += "\n";
    } else {
      entry.resize(kText, ' ');
    }
    bool indents = entry.back() == '\n';
    for (const std::string& line : WrapWords(text, kColumns - kText)) {
      entry += (indents ? std::string(kText, ' ') : "") + line + "\n";
      indents = true;
    }
    return entry;
  }
};

}  // namespace ttfd::cli
