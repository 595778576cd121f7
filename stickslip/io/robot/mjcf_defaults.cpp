// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/robot/mjcf_defaults.hpp"

#include <fmt/format.h>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::robot {

MjcfDefaults::MjcfDefaults(const XmlElement& root, const XmlSource& source) : source_(source) {
  classes_["main"];
  for (const XmlElement& element : root.children)
    if (element.name == "default")
      read(element, element.find("class") ? element.find("class")->value : "main", classes_["main"]);
}

void MjcfDefaults::read(const XmlElement& element, const std::string& name, const Class& around) {
  Class mine = around;
  for (const XmlElement& child : element.children)
    if (child.name != "default")
      for (const XmlAttribute& attribute : child.attributes) mine[child.name][attribute.name] = attribute;
  classes_[name] = mine;
  for (const XmlElement& child : element.children)
    if (child.name == "default") read(child, source_.require(child, "class").value, mine);
}

XmlElement MjcfDefaults::complete(const XmlElement& element, const std::string& group) const {
  const XmlAttribute* own = element.find("class");
  const auto found = classes_.find(own ? own->value : group);
  if (found == classes_.end()) {
    std::vector<std::string> known;
    for (const auto& [name, attributes] : classes_) known.push_back(name);
    const std::string& name = own ? own->value : group;
    source_.fail(element.line, fmt::format("there is no class {}{}", in_quotes(name), name_hint(name, known)));
  }
  XmlElement result = element;
  if (const auto attributes = found->second.find(element.name); attributes != found->second.end())
    for (const auto& [name, attribute] : attributes->second)
      if (!element.find(name)) result.attributes.push_back(attribute);
  return result;
}

}  // namespace stickslip::robot
