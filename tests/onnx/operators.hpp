// The two operators, each computed by heed's public functions.
#pragma once

#include "suite.hpp"

namespace onnx {

/// Outputs by their formal names: all that the case asks for, at least. Throws std::exception if heed refuses the case
/// or the operator asks for what is not implemented here.
Arrays attention(const Case& c);
Arrays flex_attention(const Case& c);

}  // namespace onnx
