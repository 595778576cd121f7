// SPDX-License-Identifier: Apache-2.0
#include "cli/command_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip::cli {

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}
/// Within single quotes of a shell.
std::string in_quotes(const std::string& text) { return replaced(text, "'", "'\\''"); }

std::vector<std::string> command_names(const ProgramInfo& program) {
  std::vector<std::string> names;
  for (const CommandInfo& command : program.commands) names.push_back(command.name);
  return names;
}

std::string bash_script(const ProgramInfo& program) {
  std::string values, options, arguments;
  for (const CommandInfo& command : program.commands) {
    std::string words;
    for (const OptionInfo& option : command.options) {
      const std::vector<std::string> choices = option.choices();
      if (option.positional) {
        if (!choices.empty()) {
          arguments += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", command.name,
                                   fmt::join(choices, " "));
          break;
        }
        continue;
      }
      words += (words.empty() ? "" : " ") + option.name;
      if (!choices.empty())
        values += fmt::format("    '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", command.name,
                              option.name, fmt::join(choices, " "));
      else if (option.takes_folder())
        values += fmt::format(
            "    '{} {}') compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n",
            command.name, option.name);
      else if (!option.value.empty())
        values += fmt::format("    '{} {}') return ;;\n", command.name, option.name);
    }
    options += fmt::format("      {}) COMPREPLY=($(compgen -W '{} --help' -- \"$cur\")) ;;\n", command.name, words);
  }
  return fmt::format(
      R"(# bash completion of stickslip; source it, or install it as bash-completion/completions/stickslip
_stickslip() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$cur"))
    return
  fi
  case "$command $prev" in
{}  esac
  if [[ $cur == -* ]]; then
    case "$command" in
{}    esac
    return
  fi
  case "$command" in
{}    *)
      compopt -o filenames
      # A name per line, whatever blanks are in it.
      mapfile -t COMPREPLY < <(compgen -f -X '!*.@(toml|csv|hdf5|h5|urdf|xml)' -- "$cur"; compgen -d -- "$cur")
      ;;
  esac
}}
shopt -s extglob 2>/dev/null
complete -F _stickslip stickslip
)",
      fmt::join(command_names(program), " "), values, options, arguments);
}

std::string zsh_script(const ProgramInfo& program) {
  const auto escaped = [](std::string text) {
    for (const char* c : {"\\", "[", "]", ":"}) text = replaced(text, c, std::string("\\") + c);
    return in_quotes(text);
  };
  std::string commands, cases;
  for (const CommandInfo& command : program.commands) {
    commands += fmt::format("    '{}:{}'\n", command.name, escaped(command.description));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionInfo& option : command.options) {
      const std::vector<std::string> choices = option.choices();
      const std::string action = !choices.empty()        ? fmt::format("({})", fmt::join(choices, " "))
                                 : option.takes_folder() ? "_files -/"
                                 : option.positional     ? "_files"
                                                         : " ";
      const std::string front = option.positional ? (option.repeatable ? "*" : "")
                                                  : fmt::format("{}{}[{}]", option.repeatable ? "*" : "", option.name,
                                                                escaped(option.description));
      if (option.positional || !option.value.empty())
        cases += fmt::format(" \\\n        '{}:{}:{}'", front, escaped(option.positional ? option.name : option.value),
                             action);
      else
        cases += fmt::format(" \\\n        '{}'", front);
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef stickslip
# zsh completion of stickslip; put it into a folder of $fpath as _stickslip
_stickslip() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "${{funcstack[1]}}" = _stickslip ]; then
  _stickslip "$@"
else
  compdef _stickslip stickslip
fi
)",
                     commands, cases);
}

std::string fish_script(const ProgramInfo& program) {
  std::string text = "# fish completion of stickslip; put it into a folder of $fish_complete_path as stickslip.fish\n";
  const auto escaped = [](const std::string& words) { return replaced(replaced(words, "\\", "\\\\"), "'", "\\'"); };
  for (const CommandInfo& command : program.commands) {
    text += fmt::format("complete -c stickslip -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                        escaped(command.description));
    const std::string when = fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionInfo& option : command.options) {
      const std::vector<std::string> choices = option.choices();
      std::string line = fmt::format("complete -c stickslip {}", when);
      if (!option.positional) line += fmt::format(" -l {} -d '{}'", option.name.substr(2), escaped(option.description));
      if (!option.positional && !option.value.empty()) line += " -r";
      if (!choices.empty()) line += fmt::format(" -f -a '{}'", fmt::join(choices, " "));
      if (option.positional && choices.empty()) continue;  // files, as everywhere
      text += line + "\n";
    }
  }
  return text;
}

/// Text of a manual page: no line is a request, no hyphen a typographic one.
std::string roff(const std::string& text) {
  std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (out.starts_with('.') || out.starts_with('\'')) out = "\\&" + out;
  out = replaced(out, "\n.", "\n\\&.");
  return replaced(out, "\n'", "\n\\&'");
}

}  // namespace

std::vector<std::string> OptionInfo::choices() const {
  if (description.find(" | ") == std::string::npos) return {};
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= description.size();) {
    const std::size_t to = std::min(description.find(" | ", from), description.size());
    words.push_back(description.substr(from, to - from));
    if (words.back().empty() || words.back().find(' ') != std::string::npos) return {};  // a sentence
    from = to + 3;
  }
  return words;
}

std::string completion_script(const ProgramInfo& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  throw InputError(fmt::format("completion: unknown shell '{}'{}", shell, name_hint(shell, known)));
}

std::string manual_page(const ProgramInfo& program) {
  std::string text = fmt::format(
      ".TH STICKSLIP 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nstickslip \\- dry friction and unilateral contact "
      "without "
      "smoothing the law away\n.SH SYNOPSIS\n.B stickslip\n.I COMMAND\n[\\fIOPTION\\fR...]\n.SH "
      "DESCRIPTION\n{}\n.nf\n{}.fi\n",
      roff(program.version), roff(program.description), roff(program.overview));
  text += ".SH COMMANDS\n";
  for (const CommandInfo& command : program.commands) {
    std::string arguments;
    for (const OptionInfo& option : command.options)
      if (option.positional)
        arguments += fmt::format(" {}\\fI{}\\fR{}{}", option.required ? "" : "[", roff(option.name),
                                 option.repeatable ? "..." : "", option.required ? "" : "]");
    text += fmt::format(".SS stickslip {}{}\n{}\n", roff(command.name), arguments, roff(command.description));
    for (const OptionInfo& option : command.options)
      text +=
          fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.name),
                      option.positional || option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value)),
                      roff(option.description));
    if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  }
  text += fmt::format(
      ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\nthe run ended without success; the message says what to "
      "do\n.TP\n2\nthe "
      "input or the call was wrong\n.SH NOTES\n.nf\n{}\n.fi\n",
      roff(program.footer));
  return text;
}

}  // namespace stickslip::cli
