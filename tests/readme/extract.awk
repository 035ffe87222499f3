# Writes every ```cpp block of a Markdown file to FOLDER/readme_<n>.cpp (awk -v folder=FOLDER -f extract.awk FILE). A block
# without a main becomes the body of one, its #include lines go to the top. #line makes diagnostics point to the Markdown.
/^ *```cpp/ && !inside {
  inside = 1
  first = NR + 1
  count = 0
  has_main = 0
  next
}
/^ *```/ && inside {
  inside = 0
  write()
  next
}
inside {
  block[++count] = $0
  if ($0 ~ /^(int|auto) main\(/) has_main = 1
}
END {
  if (inside) {
    print FILENAME ": the block of line " (first - 1) " has no end" > "/dev/stderr"
    exit 1
  }
}

function line(n) { return "#line " (first + n - 1) " \"" FILENAME "\"" }

function write(    file, n) {
  file = folder "/readme_" ++written ".cpp"
  if (has_main) {
    print line(1) > file
    for (n = 1; n <= count; ++n) print block[n] > file
  } else {
    print "#include <heed/heed.hpp>" > file
    for (n = 1; n <= count; ++n)
      if (block[n] ~ /^ *#include/) print line(n) "\n" block[n] > file
    print "int main() {\n" line(1) > file
    for (n = 1; n <= count; ++n) print (block[n] ~ /^ *#include/ ? "" : block[n]) > file
    print "}" > file
  }
  close(file)
}
