// The verdict of the check phase apart from the training that leads to it.
#pragma once
#include <vector>

#include "workload/workload.hpp"

namespace erg {

// Classes that take part in the softmax: a GPT's padded vocabulary, as GPT-2, nanoGPT and llm.c have it.
int64_t softmax_classes(const WorkloadSpec& workload);
// Whether a first loss (nats) is near ln(classes), within 0.5 + a quarter of it: small initial weights leave every class about as
// likely; a wide tied table adds some (0.0002 x hidden), a handful of classes scatters. False for what is not a number.
bool is_untrained_loss(double loss, double classes);

// What the losses of the three check steps say of the spec's architecture in that precision.
CheckResult judge_losses(const Spec& spec, DType dtype, std::vector<double> losses);

}  // namespace erg
