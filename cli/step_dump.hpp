// SPDX-License-Identifier: Apache-2.0
// The contact problems of chosen steps of a run, written as FCLIB files while it runs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/io/fclib_step.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::cli {

struct DumpedStep {
  double time = 0, start = 0, end = 0;
  std::string file;     ///< empty: there was nothing to write
  std::string message;  ///< why not, or why the step is not solved
  Index contacts = 0;
  int dimension = 0;
  bool solved = false;
};

class StepDump {
 public:
  /// `times`: of the steps, in any order; all in the run, else InputError naming `key` and the time. `name`: of the
  /// files, before -t<time>.hdf5. `folder`: makes the folder when the first is written.
  StepDump(std::vector<double> times, const std::string& key, const ModelFile& model, std::string name,
           std::function<std::filesystem::path()> folder);

  /// Takes the step if one of the times that are left is in it.
  void look(const StepProblem& step);
  bool done() const { return next_ == times_.size(); }
  double next() const { return times_[next_]; }
  /// End of the step that ended the run, where that has contacts.
  const std::optional<double>& unsolved() const { return unsolved_; }
  const std::vector<DumpedStep>& steps() const { return steps_; }

 private:
  void take(double time, const StepProblem& step, bool solved);

  const ModelFile& model_;
  std::string name_;
  std::function<std::filesystem::path()> folder_;
  std::vector<double> times_;
  std::size_t next_ = 0;
  std::optional<double> last_contact_, unsolved_;
  std::vector<DumpedStep> steps_;
};

}  // namespace stickslip::cli
