// Attentions 2 and 3: question words -> history words, regions -> question words. The products
// around them are matrix.cu's.
#include "cuda/device.cuh"

enum { THREADS = 128, WARPS = THREADS / VD_WARP };

// A dialog's matrix of attention 2: a row a word of its questions, a column a word of its entries.
struct vd_topic_geometry : vd_geometry {
    const int *question_word, *history_word; // first words, flat order
    const size_t *start;
};

static vd_topic_geometry topics_of(const vd_geometry *span, const size_t *start)
{
    return {*span, span->question->rows.start, span->history->rows.start, start};
}

// The columns [from, to) of entry r in the matrix of dialog b, and its rows of question n.
struct vd_segment {
    int row_from, row_to, from, to, width, entries, seen;
    size_t start;
};

static __device__ __forceinline__ vd_segment segment_of(const vd_topic_geometry &t, int n, int r)
{
    int b = t.rows.dialog[n], first = t.rows.entry_start[b];
    vd_segment s;
    s.entries = t.rows.entry_start[b + 1] - first;
    s.seen = t.rows.seen[n];
    s.start = t.start[b];
    int row = t.question_word[t.rows.question_start[b]], column = t.history_word[first];
    s.row_from = t.question_word[n] - row;
    s.row_to = t.question_word[n + 1] - row;
    s.width = t.history_word[first + s.entries] - column;
    s.from = r < s.entries ? t.history_word[first + r] - column : 0;
    s.to = r < s.entries ? t.history_word[first + r + 1] - column : 0;
    return s;
}

// A block a (question, entry); a warp a word of the question.
static __global__ void topic_kernel(vd_topic_geometry t, const float *a, float *s, float *weighted)
{
    int n = blockIdx.x, r = blockIdx.y, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    vd_segment g = segment_of(t, n, r);
    if (r >= g.entries)
        return;
    float share = r < g.seen ? a[static_cast<size_t>(n) * t.most + r] : 0;
    for (int i = g.row_from + warp; i < g.row_to; i += WARPS) {
        size_t at = g.start + static_cast<size_t>(i) * g.width + g.from;
        float *row = s + at, *out = weighted + at;
        if (r < g.seen)
            vd_warp_softmax(row, row, g.to - g.from, lane);
        for (int k = lane; k < g.to - g.from; k += VD_WARP) {
            if (r >= g.seen)
                row[k] = 0;
            out[k] = share * row[k];
        }
    }
}

// An entry's index is below `most` where questions see it, but a dialog may have more entries.
static dim3 topic_grid(const vd_geometry *span)
{
    int most = span->most;
    for (int b = 0; b < span->dialogs; b++)
        if (span->entry_start[b + 1] - span->entry_start[b] > most)
            most = span->entry_start[b + 1] - span->entry_start[b];
    return dim3(static_cast<unsigned>(span->questions), static_cast<unsigned>(most));
}

static void topic_attention(const vd_geometry *span, const size_t *start, const vd_real *a,
                            vd_real *s, vd_real *weighted)
{
    VD_LAUNCH(topic_kernel, topic_grid(span), THREADS, topics_of(span, start), a, s, weighted);
}

static __global__ void topic_backward_kernel(vd_topic_geometry t, const float *a, const float *s,
                                             float *ds, float *da)
{
    __shared__ float room[WARPS];
    int n = blockIdx.x, r = blockIdx.y, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    vd_segment g = segment_of(t, n, r);
    if (r >= g.entries)
        return;
    bool seen = r < g.seen;
    float share = seen ? a[static_cast<size_t>(n) * t.most + r] : 0, all = 0;
    for (int i = g.row_from + warp; i < g.row_to; i += WARPS) {
        size_t at = g.start + static_cast<size_t>(i) * g.width + g.from;
        const float *row = s + at;
        float *drow = ds + at, sum = 0;
        for (int k = lane; k < g.to - g.from; k += VD_WARP)
            sum += seen ? row[k] * drow[k] : 0;
        sum = vd_warp_sum(sum);
        // The softmax's gradient of a_r ds: a_r s (ds - sum).
        for (int k = lane; k < g.to - g.from; k += VD_WARP)
            drow[k] = seen ? share * row[k] * (drow[k] - sum) : 0;
        all += lane == 0 ? sum : 0;
    }
    all = vd_block_sum(all, room);
    if (seen && threadIdx.x == 0)
        da[static_cast<size_t>(n) * t.most + r] += all;
}

static void topic_attention_backward(const vd_geometry *span, const size_t *start, const vd_real *a,
                                     const vd_real *s, vd_real *ds, vd_real *da)
{
    VD_LAUNCH(topic_backward_kernel, topic_grid(span), THREADS, topics_of(span, start), a, s, ds,
              da);
}

// ---- attention 3 --------------------------------------------------------------------------------

// A block a question; a warp a region. y NULL: the softmax of dm, else its gradient.
static __global__ void word_kernel(vd_geometry_rows rows, const int *question_word, int regions,
                                   const float *y, float *dm)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int b = rows.dialog[n], first = question_word[rows.question_start[b]];
    int stride = question_word[rows.question_start[b + 1]] - first;
    int words = question_word[n + 1] - question_word[n];
    size_t at = static_cast<size_t>(regions) * first + (question_word[n] - first);
    for (int r = warp; r < regions; r += WARPS) {
        size_t row = at + static_cast<size_t>(r) * stride;
        if (y)
            vd_warp_softmax_backward(y + row, dm + row, words, lane);
        else
            vd_warp_softmax(dm + row, dm + row, words, lane);
    }
}

static void word_attention(const vd_geometry *span, int regions, vd_real *m)
{
    const float *none = NULL;
    VD_LAUNCH(word_kernel, static_cast<unsigned>(span->questions), THREADS, span->rows,
              span->question->rows.start, regions, none, m);
}

static void word_attention_backward(const vd_geometry *span, int regions, const vd_real *m,
                                    vd_real *dm)
{
    VD_LAUNCH(word_kernel, static_cast<unsigned>(span->questions), THREADS, span->rows,
              span->question->rows.start, regions, m, dm);
}

void vd_cuda_words(vd_backend *table)
{
    table->topic_attention = topic_attention;
    table->topic_attention_backward = topic_attention_backward;
    table->word_attention = word_attention;
    table->word_attention_backward = word_attention_backward;
}
