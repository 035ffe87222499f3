# Reads `objdump -d --no-show-raw-insn` and fails if a function outside the kernels' regions holds AVX code: an instruction
# whose name begins with v, or a register that only AVX has. With inlined=1 it also fails if the modifiers of a call are
# not inlined and turned into vector instructions. A mangled name begins with its namespaces, so that a region
# in template arguments alone does not count.
/^[0-9a-f]+ <.*>:/ {
  name = $2
  gsub(/^<|>:$/, "", name)
  region = name ~ /^_ZZ*N[KVRO]*4heed7kernels4avx2/ ? "avx2" : name ~ /^_ZZ*N[KVRO]*4heed7kernels6avx512/ ? "avx512" : ""
  next
}
/^ *[0-9a-f]+:[ \t]/ {
  sub(/^[^:]*:[ \t]*/, "")
  # The functions with the modifiers of a call: a soft cap divides.
  if (region == "avx512" && name ~ /7Kernels4editI/) {
    if (/^vdivp[sd].*%zmm/) divisions++
    if (/^call.*<_Z/) calls[name] = $0  # not what an assert calls
  }
  if (!/^v/ && !/%[yz]mm|%k[0-7]/) next
  if (region != "") {
    inside[region]++
  } else if (!(name in outside)) {
    outside[name] = $0
  }
}
END {
  for (name in outside) {
    print "outside the regions: " name ": " outside[name]
    failed = 1
  }
  printf "in the regions: %d instructions of AVX2, %d of AVX-512\n", inside["avx2"], inside["avx512"]
  if (inside["avx2"] < 1000 || inside["avx512"] < 1000) {
    print "that is too little: this check does not see the kernels"
    failed = 1
  }
  if (inlined) {
    for (name in calls) {
      print "not inlined: " name ": " calls[name]
      failed = 1
    }
    if (divisions < 2) {
      print "no soft cap in vectors"
      failed = 1
    }
  }
  exit failed
}
