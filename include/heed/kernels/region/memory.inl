// What a task of the forward keeps in memory. Read once for each instruction set.

/// Sizes that depend on the problem alone, never on threads: what is summed in which order decides the bits.
template <class T>
struct Blocks {
  Index keys;          // in a block: so many keys and values stay in the cache
  Index score_stride;  // of a strip's rows: no power of two, which would put a column of them into few cache sets
  Index value_width;   // e, rounded up to vectors

  Blocks(Index d, Index e) : value_width(rounded_up<T>(e)) {
    const Index fitting = block_bytes / static_cast<Index>(sizeof(T)) / greater(64, greater(d, value_width));
    keys = greater(panel_width<T>, fitting / panel_width<T> * panel_width<T>);
    score_stride = keys + width<T>;
  }
};

/// The memory of one task, in parts that begin at a vector.
template <class T>
struct Scratch {
  V<T>* sums;  // of each row, see soften_rows
  T* largest;
  KeyRange* seen;      // by each row
  T* out;              // ℝ^{rows×e}, then as many rows as a tile may have beyond
  T *q, *scores;       // of a strip
  T *panels, *values;  // of a block of keys

  /// Of `memory`, or with nullptr only counted.
  Scratch(T* memory, Index rows, Index d, const Blocks<T>& blocks) {
    rows += row_lanes<T>;
    sums = reinterpret_cast<V<T>*>(take(memory, rows * width<T>));
    largest = take(memory, rows);
    seen = reinterpret_cast<KeyRange*>(take(memory, rows * static_cast<Index>(sizeof(KeyRange) / sizeof(T))));
    out = take(memory, rows * blocks.value_width);
    q = take(memory, tile_rows * d);
    scores = take(memory, tile_rows * blocks.score_stride);
    panels = take(memory, blocks.keys * d);
    values = take(memory, blocks.keys * blocks.value_width);
  }

  Index size = 0;

 private:
  T* take(T* memory, Index count) {
    T* const part = memory == nullptr ? nullptr : memory + size;
    size += rounded_up<T>(count);
    return part;
  }
};
