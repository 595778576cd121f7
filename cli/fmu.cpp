// SPDX-License-Identifier: Apache-2.0
// A model as a functional mock-up unit (FMI 2.0 for co-simulation): fmi/README.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "fmi/value_references.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

/// Beside the program, in the build as where it is installed.
fs::path unit_library() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path library = program.parent_path().parent_path() / "lib/stickslip/stickslip_fmu.so";
  if (!fs::exists(library, ignored))
    throw InputError(
        fmt::format("{}: the library of units is missing; build the target stickslip_fmu, or install the program again",
                    library.string()));
  return library;
}

std::string xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  return escaped;
}

/// Letters, digits and _, as the name of a library and a prefix of functions must be.
std::string identifier(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front()))) result.insert(0, "m_");
  return result;
}

/// Differs where the model differs (FNV-1a, 64 bits, twice).
std::string guid_of(const std::string& text) {
  std::uint64_t hash[2] = {14695981039346656037ULL, 1099511628211ULL};
  for (const char c : text)
    for (std::uint64_t& h : hash) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const std::string digits = fmt::format("{:016x}{:016x}", hash[0], hash[1]);
  return fmt::format("{{{}-{}-{}-{}-{}}}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                     digits.substr(16, 4), digits.substr(20));
}

struct Variable {
  std::string name;
  unsigned reference;
  const char* causality;
  std::string start;  ///< empty: none
};

std::vector<Variable> variables_of(const ModelFile& model) {
  std::vector<Variable> all;
  unsigned k = 0;
  for (const ModelInput& input : model.inputs)
    all.push_back({input.name, kInput + k++, "input", fmt::format("{:.17g}", input.start)});
  k = 0;
  for (const auto& [name, value] : model.parameters)
    all.push_back({name, kParameter + k++, "parameter", fmt::format("{:.17g}", value)});
  // Names as in trajectory.csv, whose columns begin with these.
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  const std::vector<std::string> columns = trajectory_columns(names);
  std::size_t at = 1;
  for (const auto& [first, count] : {std::pair{kPosition, names.coordinates.size()},
                                     {kVelocity, names.velocities.size()},
                                     {kReaction, names.reactions.size()}})
    for (unsigned i = 0; i < count; ++i) all.push_back({columns.at(at++), first + i, "output", ""});
  return all;
}

std::string description(const ModelFile& model, const std::string& name, const std::string& guid, double step) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{}\" "
      "guid=\"{}\" "
      "generationTool=\"stickslip {}\" variableNamingConvention=\"flat\" description=\"{}\">\n"
      "  <CoSimulation modelIdentifier=\"{}\" canHandleVariableCommunicationStepSize=\"false\" "
      "canBeInstantiatedOnlyOncePerProcess=\"false\"/>\n"
      "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>\n"
      "  <DefaultExperiment startTime=\"{:.17g}\" stopTime=\"{:.17g}\" stepSize=\"{:.17g}\"/>\n  <ModelVariables>\n",
      xml(name), guid, version(), xml(model.title), identifier(name), model.run.start_time, model.run.end_time, step);
  std::string outputs;
  int index = 0;
  for (const Variable& v : variables_of(model)) {
    ++index;
    const bool parameter = std::string_view(v.causality) == "parameter",
               output = std::string_view(v.causality) == "output";
    text += fmt::format(
        "    <ScalarVariable name=\"{}\" valueReference=\"{}\" causality=\"{}\" "
        "variability=\"{}\"><Real{}/></ScalarVariable>\n",
        xml(v.name), v.reference, v.causality, parameter ? "fixed" : "continuous",
        v.start.empty() ? "" : fmt::format(" start=\"{}\"", v.start));
    if (output) outputs += fmt::format("<Unknown index=\"{}\"/>", index);
  }
  return text + fmt::format(
                    "  </ModelVariables>\n  "
                    "<ModelStructure><Outputs>{0}</Outputs><InitialUnknowns>{0}</InitialUnknowns></ModelStructure>\n</"
                    "fmiModelDescription>\n",
                    outputs);
}

/// Written beside and renamed, so that no half unit stands under the name.
void write_zip(const fs::path& file, const std::vector<std::pair<std::string, std::string>>& texts,
               const fs::path& library, const std::string& inside) {
  if (!file.parent_path().empty() && !fs::is_directory(file.parent_path()))
    throw InputError(
        fmt::format("--out {}: there is no folder {}; make it first", file.string(), file.parent_path().string()));
  if (fs::is_directory(file))
    throw InputError(fmt::format("--out {}: it is a folder; name a file in it", file.string()));
  const fs::path part = file.string() + ".part";
  if (std::FILE* probe = std::fopen(part.c_str(), "wb")) {  // libzip says it at the end alone
    std::fclose(probe);
    fs::remove(part);
  } else {
    throw InputError(fmt::format("--out {}: cannot be written: {}", file.string(), std::strerror(errno)));
  }
  int code = 0;
  zip_t* archive = zip_open(part.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive) throw InputError(fmt::format("{}: cannot be written ({})", file.string(), std::strerror(errno)));
  bool fine = true;
  for (const auto& [name, text] : texts)
    fine &= zip_file_add(archive, name.c_str(), zip_source_buffer(archive, text.data(), text.size(), 0),
                         ZIP_FL_ENC_UTF_8) >= 0;
  fine &= zip_file_add(archive, inside.c_str(), zip_source_file(archive, library.c_str(), 0, -1), 0) >= 0;
  if (!fine || zip_close(archive) != 0) {
    const std::string why = zip_strerror(archive);
    zip_discard(archive);
    throw OutputError(fmt::format("{}: {}", file.string(), why));
  }
  std::error_code error;
  fs::rename(part, file, error);
  if (error) throw OutputError(fmt::format("{}: {}", file.string(), error.message()));
}

}  // namespace

int fmu(const FmuCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: a unit needs the table [run], with scheme and step", command.model));
  const std::string name = fs::path(command.model).stem().string();
  const fs::path file = command.out.empty() ? fs::path(name + ".fmu") : fs::path(command.out);
  nlohmann::json files = nlohmann::json::array();
  for (const auto& [path, text] : model.files)  // of any bytes: hence not as text
    files.push_back(nlohmann::json::array({path, nlohmann::json::binary({text.begin(), text.end()})}));
  const std::string guid = guid_of(model.text + fmt::format("{}", fmt::join(model.settings, "\n")));
  std::string more;
  nlohmann::json::to_cbor(nlohmann::json{{"guid", guid}, {"settings", model.settings}, {"files", files}}, more);
  const double step = model.run.output_step > 0 ? model.run.output_step : model.run.step;
  write_zip(file,
            {{"modelDescription.xml", description(model, name, guid, step)},
             {"resources/model.toml", model.text},
             {"resources/model.cbor", more}},
            unit_library(), fmt::format("binaries/linux64/{}.so", identifier(name)));
  const std::size_t variables = variables_of(model).size();
  if (command.json) {
    write_out(
        nlohmann::json{
            {"status", "success"}, {"file", file.string()}, {"inputs", model.inputs.size()}, {"variables", variables}}
            .dump() +
        "\n");
  } else {
    print_out("{}: {} inputs, {} variables; FMI 2.0 for co-simulation, Linux\n", file.string(), model.inputs.size(),
              variables);
  }
  return kSuccess;
}

}  // namespace stickslip::cli
