// What the fault tests share: short sweeps, every byte that is stored, and processes that should be gone.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "../cli/program.hpp"

namespace erg::test {

using Words = std::vector<std::string>;

// Every stored record of a folder as text, by the run's id.
std::map<std::string, std::string> record_texts(const std::string& results);

// Waits until a child of a sweep says itself that it runs, in the record whose id ends so, and returns its process id.
int wait_for_child(const Program& ergometer, const std::string& id_end);

// Ids of living processes (no zombies) whose command line holds `text`; waits up to five seconds for there to be none.
std::vector<int> survivors(const std::string& text);

// How many PASSED records each point of a sweep has, by its coordinates and repeat.
std::map<std::string, int> passed_by_point(const std::vector<nlohmann::json>& records, const std::string& sweep_id);

}  // namespace erg::test
