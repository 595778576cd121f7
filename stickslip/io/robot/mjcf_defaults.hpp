// SPDX-License-Identifier: Apache-2.0
// <default> of MJCF: what attributes elements of a class have that they do not give themselves. A class has what the
// class around it has, unless it says otherwise.
#pragma once

#include <map>
#include <string>

#include "stickslip/io/robot/xml_document.hpp"

namespace stickslip::robot {

class MjcfDefaults {
 public:
  MjcfDefaults(const XmlElement& root, const XmlSource& source);
  /// The element with the attributes of its class, its own one or `group`.
  XmlElement complete(const XmlElement& element, const std::string& group) const;

 private:
  using Attributes = std::map<std::string, XmlAttribute>;
  using Class = std::map<std::string, Attributes>;  ///< by the name of the element
  void read(const XmlElement& element, const std::string& name, const Class& around);

  const XmlSource& source_;
  std::map<std::string, Class> classes_;
};

}  // namespace stickslip::robot
