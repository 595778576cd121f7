// SPDX-License-Identifier: Apache-2.0
// The report of one run: the figures of report_columns.hpp, stick/slip timeline, audit, final state.
//
// A page must open at once whatever the length of the run, so long ones are thinned, and the page says so: a series
// keeps the lowest and the highest sample of each of `points`/2 groups of consecutive rows, so that no spike and no
// envelope of an oscillation is lost; of very many bodies, laws or columns some, evenly spread, can be chosen; of a
// timeline with very many changes each law shows the mode that lasts longest in each of equal parts of the time.
// trajectory.csv and events.csv hold everything.
#pragma once

#include <functional>

#include "stickslip/io/report_columns.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/summary.hpp"

namespace stickslip {

struct SimulationReportOptions {
  Index points = 4000;             ///< per series, at most; >= 4
  Index series = 600;              ///< per figure, at most, of whole bodies or laws: 200 bodies; >= 1
  Index figure_points = 100000;    ///< over all series of a figure, about
  Index timeline_entries = 50000;  ///< intervals and events over all laws, about
  ReportUnits units{};
};

ReportDocument simulation_report(const ResultHeader& header, const Simulation& simulation, double wall_seconds,
                                 const SimulationReportOptions& options = {});

/// Rows to keep of `rows` samples: the lowest and highest of each group, the first and the last row; a sample that is
/// not finite where a group has one. At most about `points`, ascending. All of them if rows <= points.
std::vector<Index> thinned_rows(Index rows, Index points, const std::function<double(Index row)>& value);

/// The modes of each law over [from, to] as the events tell, starting with `initial`.
std::vector<std::vector<ReportInterval>> mode_intervals(const std::vector<Mode>& initial,
                                                        const std::vector<Event>& events, double from, double to);

}  // namespace stickslip
