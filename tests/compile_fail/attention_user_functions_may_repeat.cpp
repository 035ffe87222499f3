// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

const auto same = [](float score, auto...) { return score; };
const auto all = [](auto...) { return true; };

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::score_mod(same), heed::mask_mod(all),
                                                    heed::soft_cap(1), heed::score_mod(same), heed::soft_cap(2));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::score_mod(same), heed::mask_mod(all),
                                                    heed::soft_cap(1), heed::score_mod(same), heed::mask_mod(all));
#endif
