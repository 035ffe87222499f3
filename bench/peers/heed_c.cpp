// heed's attention and what the machine could do behind a C interface, for peers.py: built by it with nothing but -O2.
#include "../fma_peak.hpp"
#include "../read_bandwidth.hpp"
#include "../threads.hpp"
#include "../timing.hpp"
#include "../variants.hpp"

#include <heed/heed.hpp>

#include <cstddef>

extern "C" {

/// q, out ℝ^{b×h×t×d}, k, v ℝ^{b×g×s×d}, contiguous. A variant is its place in variant_names.
void heed_attention(const float* q, const float* k, const float* v, float* out, const bench::Sizes* sizes, int variant,
                    const bench::Extras* extras) {
  const auto [b, h, g, t, s, d] = *sizes;
  const auto query = heed::view(q, {b, h, t, d});
  const auto key = heed::view(k, {b, g, s, d});
  const auto value = heed::view(v, {b, g, s, d});
  const auto result = heed::view(out, {b, h, t, d});
  bench::with_variant(static_cast<bench::Variant>(variant), *sizes, *extras, [&](const auto&... modifiers) {
    heed::scaled_dot_product_attention_into(result, query, key, value, modifiers...);
  });
}

/// So many calls in a row, without a mask, by tensors of rank 3 (b is 1) or 4.
void heed_many_calls(const float* q, const float* k, const float* v, float* out, const bench::Sizes* sizes, int rank,
                     long calls) {
  const auto [b, h, g, t, s, d] = *sizes;
  const auto call = [&](const auto& result, const auto& query, const auto& key, const auto& value) {
    for (long n = 0; n < calls; ++n) heed::scaled_dot_product_attention_into(result, query, key, value);
  };
  if (rank == 3) {
    call(heed::view(out, {h, t, d}), heed::view(q, {h, t, d}), heed::view(k, {g, s, d}), heed::view(v, {g, s, d}));
  } else {
    call(heed::view(out, {b, h, t, d}), heed::view(q, {b, h, t, d}), heed::view(k, {b, g, s, d}),
         heed::view(v, {b, g, s, d}));
  }
}

const char* heed_instruction_set() { return bench::instruction_set_name(); }
void heed_set_threads(int count) { bench::set_threads(count); }
double heed_fma_peak() { return bench::fma_peak(); }
void heed_read_all(const float* data, std::size_t count) { bench::read_all(data, count); }
}
