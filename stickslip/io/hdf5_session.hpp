// SPDX-License-Identifier: Apache-2.0
// What a program says about HDF5 as a whole, without its header.
#pragma once

#include <string>

namespace stickslip {

/// HDF5 does not tidy up when the program ends. After a write that failed (a full disk) it would try the same write
/// again for ever, and print that it does. Called before anything else of HDF5; for programs that close their files.
void leave_hdf5_open_at_exit();

/// "1.10.8"
std::string hdf5_version();

}  // namespace stickslip
