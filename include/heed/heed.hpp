#pragma once

/// heed: attention in C++ on Eigen. This header brings all of it.

#include <heed/core/aligned_buffer.hpp>
#include <heed/core/config.hpp>
#include <heed/core/eigen.hpp>
#include <heed/core/error.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/math.hpp>
#include <heed/core/overlap.hpp>
#include <heed/core/parallel.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/print.hpp>
#include <heed/core/shape.hpp>
#include <heed/core/tensor.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/core/tensor_view.hpp>
#include <heed/core/transform.hpp>
#include <heed/core/workspace.hpp>

#include <heed/kernels/head_task.hpp>
#include <heed/kernels/instruction_set.hpp>
#include <heed/kernels/kernels.hpp>

#include <heed/attention/call_options.hpp>
#include <heed/attention/composition.hpp>
#include <heed/attention/front_door.hpp>
#include <heed/attention/fused.hpp>
#include <heed/attention/masks.hpp>
#include <heed/attention/merge.hpp>
#include <heed/attention/modifier.hpp>
#include <heed/attention/modifiers.hpp>
#include <heed/attention/outputs.hpp>
#include <heed/attention/problem.hpp>
#include <heed/attention/reference.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/attention/score_modifiers.hpp>
#include <heed/attention/weight_modifiers.hpp>

#include <heed/nn/attention_config.hpp>
#include <heed/nn/attention_module.hpp>
#include <heed/nn/causal_attention.hpp>
#include <heed/nn/dropout.hpp>
#include <heed/nn/linear.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/multi_head_attention.hpp>
#include <heed/nn/multi_head_attention_wrapper.hpp>
#include <heed/nn/parameter.hpp>
#include <heed/nn/query_key_value.hpp>
#include <heed/nn/self_attention_v1.hpp>
#include <heed/nn/self_attention_v2.hpp>
