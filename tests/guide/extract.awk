# Writes the ```cpp blocks of doc-comments as one program (awk -f extract.awk HEADER... > FILE). Each becomes a function with
# q, k and v at hand. #line makes diagnostics point to the header.
BEGIN {
  print "#include <heed/heed.hpp>\n\n#include <vector>\n"
  print "using Tensor = heed::Tensor<float, 4>;\n"
}
/^ *\/\/\/ ```cpp/ {
  inside = 1
  ++blocks
  print "void block_" blocks "(const Tensor& q, const Tensor& k, const Tensor& v) {"
  print "#line " (FNR + 1) " \"" FILENAME "\""
  next
}
/^ *\/\/\/ ```/ && inside {
  inside = 0
  print "}\n"
  next
}
inside {
  sub(/^ *\/\/\/ ?/, "")
  print
}
END {
  if (inside || !blocks) {
    print "a block without an end, or none at all" > "/dev/stderr"
    exit 1
  }
  print "int main() {"
  print "  heed::Generator rng(1);"
  print "  const Tensor q = heed::rand<float>(rng, 2, 4, 5, 8);  // ℝ^{b×h×t×d}"
  print "  const Tensor k = heed::rand<float>(rng, 2, 2, 7, 8);  // ℝ^{b×g×s×d}"
  print "  const Tensor v = heed::rand<float>(rng, 2, 2, 7, 3);  // ℝ^{b×g×s×e}"
  for (n = 1; n <= blocks; ++n) print "  block_" n "(q, k, v);"
  print "}"
}
