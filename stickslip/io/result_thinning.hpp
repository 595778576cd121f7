// SPDX-License-Identifier: Apache-2.0
// What a page draws of a stored result, whatever its length: a bounded number of its rows and events.
//
// Rows are true rows, never mixtures. Of a result with more than `numbers` numbers, each of equal groups of consecutive
// rows gives its first row and, for every column that a report may show (up to `columns` of each table, evenly spread),
// the rows with the lowest and the highest value: no spike and no envelope of an oscillation is lost. Of more than
// `events` events the last one of each law in each of equal parts of the time is kept: what a law does between two of
// them may be missing, what it does at the end of each part is right.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/io/result_reader.hpp"

namespace stickslip {

struct ThinningLimits {
  long numbers = 4'000'000;  ///< over all rows and columns
  long columns = 600;        ///< of each table
  long rows = 2000;          ///< at least so many where there are
  long events = 1'000'000;
};

/// Row numbers, ascending. keep_going(fraction), if given, is asked often; false ends it with what there is so far.
std::vector<long> envelope_rows(const ResultStream& result, const ThinningLimits& limits = {},
                                const std::function<bool(double)>& keep_going = {});
/// At most `count` of 0..rows - 1, evenly spread with both ends.
std::vector<long> even_rows(long rows, long count);
/// These rows, with the forces at their contact points if asked for; rows_of_run says how many there were.
Trajectory read_trajectory(const ResultStream& result, const std::vector<long>& rows, bool points);
std::vector<Event> thinned_events(const ResultStream& result, const ThinningLimits& limits = {});

}  // namespace stickslip
