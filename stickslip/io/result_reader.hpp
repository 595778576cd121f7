// SPDX-License-Identifier: Apache-2.0
// Reads result.h5, also while its run goes on or after the run was killed: then HDF5 refuses an ordinary open, and the
// file is opened the way readers of a growing file do (single writer, multiple readers). Nothing in it is changed.
//
// The number of rows is that of the shortest table, less rows at the end whose `t` was never written
// (result_writer.hpp). A path may name the file or its folder. Missing, foreign or damaged files are InputErrors with
// path and reason.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/io/summary.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

/// Row-major, as the file is: one row per output time.
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Consecutive rows.
struct ResultRows {
  std::vector<double> t;                   ///< [s]
  RowMatrix position, velocity, reaction;  ///< rows × nq, nv, m
  RowMatrix smooth, friction_velocity;     ///< no columns where the run has none
  RowMatrix sensitivity;                   ///< unknown by unknown: d/dp of position, velocity, reaction where known
  RowMatrix energy;         ///< kinetic potential work_in friction_loss damper_loss impact_loss unexplained, ...
  std::vector<Mode> modes;  ///< rows × laws
  Index rows() const { return static_cast<Index>(t.size()); }
};

struct ResultFile : ResultRows {
  std::string title, model, scheme, version;
  std::string status;  ///< "running" if the run did not come to its end
  std::string note;    ///< empty; or that the run did not come to its end, and what that means
  TrajectoryNames names;
  std::vector<Event> events;
};
/// Everything, into memory.
ResultFile read_result_file(const std::filesystem::path& result);

/// Rows and events part by part: a result need not fit into memory.
class ResultStream {
 public:
  explicit ResultStream(const std::filesystem::path& result);
  ~ResultStream();
  ResultStream(ResultStream&&) noexcept;

  const TrajectoryNames& names() const;
  const std::string& note() const;  ///< as in ResultFile
  long rows() const;
  long events() const;
  /// A number of rows that is about 8 MB.
  long block_rows() const;
  void read_rows(long first, long count, ResultRows& rows) const;
  void read_events(long first, long count, std::vector<Event>& events) const;
  /// Forces at the contact points of one row.
  void read_points(long row, std::vector<PointForce>& points) const;

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

/// Removes result.h5 from a folder if it is a result of stickslip.
void remove_result_file(const std::filesystem::path& folder);

/// What the run was made from, as stored in its result.
ResultHeader read_header(const std::filesystem::path& result);

/// The last state that was stored: the final one of a run that ended, that of the last flush of one that was killed.
/// `note` (may be null) is empty, or says that the run did not come to its end.
State read_restart_state(const std::filesystem::path& result, std::string* note = nullptr);
/// The same with all that a run needs to go on as if it had never stopped.
Checkpoint read_checkpoint(const std::filesystem::path& result, std::string* note = nullptr);

}  // namespace stickslip
