#pragma once

/// Everything that may follow q, k and v in a call of attention; modifier.hpp says what a modifier is.

#include <heed/attention/call_options.hpp>
#include <heed/attention/masks.hpp>
#include <heed/attention/modifier.hpp>
#include <heed/attention/outputs.hpp>
#include <heed/attention/score_modifiers.hpp>
#include <heed/attention/weight_modifiers.hpp>
