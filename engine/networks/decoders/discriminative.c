// Discriminative decoder: a 2-layer LSTM reads each candidate; its last state o_c is compared with
// the encoder's vector, z_c = o_c . e            (Park et al. 2021, section 3.4; Das et al. 2017)
#include "engine/networks/network.h"

#include "engine/networks/boundaries.h"

// Lists, where operations read them, the answers order[i] (NULL = i) that have words and the rows
// last[i] where they end.
static vd_status list_ends(vd_pass *pass, vd_prefixes *p, const int *order, int count, int *last,
                           vd_error *err)
{
    int *answer = vd_arena_take(pass->arena, (size_t)count, sizeof *answer);
    if (!answer)
        return vd_error_memory(err, "candidate vectors");
    p->ends = 0;
    for (int i = 0; i < count; i++)
        if (last[i] >= 0) {
            last[p->ends] = last[i];
            answer[p->ends++] = order ? order[i] : i;
        }
    size_t n = (size_t)p->ends;
    p->end_row = vd_arena_upload(pass->arena, last, n, sizeof *last);
    p->answer = vd_arena_upload(pass->arena, answer, n, sizeof *answer);
    p->end_vector = vd_arena_reals(pass->arena, n * (size_t)pass->config->hidden);
    return pass->arena->failed ? vd_error_memory(err, "candidate vectors") : VD_OK;
}

// The listed answers alone and without boundaries, which keeps their order.
static vd_status bare_answers(vd_pass *pass, const int32_t **ids, const int32_t **lengths,
                              int width, const int **order, int count, vd_error *err)
{
    vd_status status = vd_bare_texts(pass->arena, ids, lengths, *order, count, width, true, err);
    int *same = vd_arena_ints(pass->arena, (size_t)count);
    for (int i = 0; same && i < count; i++)
        same[i] = i;
    *order = same;
    return status == VD_OK && !same ? vd_error_memory(err, "candidate vectors") : status;
}

// The tree of the answers' prefixes: p->packed, and (*last)[i], the row where order[i] ends.
static vd_status grow_tree(vd_pass *pass, vd_prefixes *p, const int32_t *ids,
                           const int32_t *lengths, int width, const int *order, int count,
                           int **last, vd_error *err)
{
    *p = (vd_prefixes){0};
    *last = vd_arena_take(pass->arena, (size_t)count, sizeof **last);
    if (!*last)
        return vd_error_memory(err, "candidate vectors");
    vd_status status = VD_OK;
    if (pass->config->boundaries == VD_BOUNDARIES_NONE)
        status = bare_answers(pass, &ids, &lengths, width, &order, count, err);
    if (status == VD_OK)
        status = vd_packed_prefixes(ids, lengths, width, order, count, pass->arena, &p->packed,
                                    *last, err);
    return status;
}

// Reads the words; the states at the rows last[i] are those of the answers order[i] (NULL = i).
static vd_status read_answers(vd_pass *pass, vd_prefixes *p, const vd_packed *words,
                              const int *order, int count, int *last, vd_real *vector,
                              vd_error *err)
{
    int h = pass->config->hidden;
    vd_status status = vd_words_forward(pass, &p->text, words, VD_SITE_CANDIDATE_WORDS, err);
    if (status == VD_OK)
        status = vd_recurrent_forward(pass, &p->text, pass->w->candidate, 1, NULL,
                                      VD_SITE_CANDIDATE_LAYER, err);
    if (status == VD_OK)
        status = list_ends(pass, p, order, count, last, err);
    if (status != VD_OK)
        return status;
    pass->be->copy_rows(p->text.recurrent.y, h, p->end_row, p->ends, h, p->end_vector, h);
    pass->be->scatter_rows(p->end_vector, h, p->answer, p->ends, h, vector, h);
    return VD_OK;
}

vd_status vd_prefixes_encode(vd_pass *pass, vd_prefixes *prefixes, const int32_t *ids,
                             const int32_t *lengths, int width, const int *order, int count,
                             vd_real *vector, vd_error *err)
{
    int *last;
    vd_status status = grow_tree(pass, prefixes, ids, lengths, width, order, count, &last, err);
    return status == VD_OK
               ? read_answers(pass, prefixes, &prefixes->packed, order, count, last, vector, err)
               : status;
}

// ---- candidates of a batch ----------------------------------------------------------------------

// Whether dropout makes candidates' words differ before the first layer.
static bool drops_words(const vd_pass *pass)
{
    vd_positions positions = pass->config->positions;
    return pass->position_dropout != 0 &&
           (positions == VD_POSITIONS_SINUSOIDAL || positions == VD_POSITIONS_LEARNED);
}

// Whether every candidate of every question has masks, and so a vector, of its own. The public code
// reads every one so.
static bool drops_apart(const vd_pass *pass)
{
    return pass->own_masks && (pass->lstm_dropout != 0 || drops_words(pass));
}

// Where each candidate of each question ends in the tree of the distinct ones; NULL: memory is out.
static int *ends_of_all(const vd_network *net, const int *order, const int *last)
{
    const vd_batch *b = net->batch;
    int *of = vd_arena_take_raw(net->pass.arena, (size_t)b->distinct, sizeof *of);
    int *end = vd_arena_take_raw(net->pass.arena, (size_t)net->vectors, sizeof *end);
    for (int i = 0; of && end && i < b->distinct; i++)
        of[order[i]] = last[i];
    for (int i = 0; of && end && i < net->vectors; i++)
        end[i] = of[b->option[i]];
    return of ? end : NULL;
}

// Reads every candidate of every question. Those that begin alike share the first layer's states
// as long as no mask is drawn before them.
static vd_status encode_apart(vd_network *net, const int *order, vd_error *err)
{
    vd_pass *pass = &net->pass;
    vd_prefixes *p = &net->candidate;
    const vd_batch *b = net->batch;
    int *last, *row, all = net->vectors;
    vd_status status = grow_tree(pass, p, b->candidate, b->candidate_length, b->candidate_width,
                                 order, b->distinct, &last, err);
    if (status == VD_OK && !(last = ends_of_all(net, order, last)))
        status = vd_error_memory(err, "candidate vectors");
    if (status == VD_OK)
        status = vd_packed_apart(&p->packed, last, all, pass->arena, &p->apart, &row, err);
    if (status != VD_OK)
        return status;
    if (drops_words(pass))
        return read_answers(pass, p, &p->apart, NULL, all, last, net->vector, err);
    p->text.apart = &p->apart;
    p->text.apart_row = vd_arena_upload(pass->arena, row, (size_t)p->apart.tokens, sizeof *row);
    return p->text.apart_row ? read_answers(pass, p, &p->packed, NULL, all, last, net->vector, err)
                             : vd_error_memory(err, "candidate vectors");
}

// The batch's candidates: net->vector.
static vd_status encode_candidates(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *b = net->batch;
    const int *order = b->candidate_order;
    if (!order) {
        int *own = vd_arena_take(pass->arena, (size_t)b->distinct, sizeof *own);
        if (!own)
            return vd_error_memory(err, "candidate vectors");
        vd_status status = vd_packed_sort(b->candidate, b->candidate_length, b->candidate_width,
                                          b->distinct, own, err);
        if (status != VD_OK)
            return status;
        order = own;
    }
    if (drops_apart(pass))
        return encode_apart(net, order, err);
    return vd_prefixes_encode(pass, &net->candidate, b->candidate, b->candidate_length,
                              b->candidate_width, order, b->distinct, net->vector, err);
}

// Of many kept candidates a question meets few: its own are gathered and compared with e.
static vd_status score_kept(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    int h = pass->config->hidden, n = pass->span.questions, o = net->batch->candidates;
    size_t all = (size_t)n * (size_t)o;
    vd_product *list = vd_arena_take(pass->arena, (size_t)n, sizeof *list);
    net->option = vd_arena_upload(pass->arena, net->batch->option, all, sizeof *net->option);
    net->scores = vd_arena_reals(pass->arena, all);
    vd_real *gathered = vd_arena_reals(pass->arena, all * (size_t)h);
    if (pass->arena->failed)
        return vd_error_memory(err, "candidate scores");
    pass->be->embed(net->kept, net->option, (int)all, gathered);
    for (int k = 0; k < n; k++)
        list[k] = vd_product_of(false, true, 1, o, h, pass->encoded + (size_t)k * (size_t)h,
                                gathered + (size_t)k * (size_t)o * (size_t)h,
                                net->scores + (size_t)k * (size_t)o);
    pass->be->products(false, true, 0, list, n);
    return VD_OK;
}

// How many vectors there are, and which is each option's.
static vd_status number_vectors(vd_network *net, vd_error *err)
{
    const vd_batch *b = net->batch;
    vd_arena *arena = net->pass.arena;
    size_t all = (size_t)net->pass.span.questions * (size_t)b->candidates;
    const int32_t *option = b->option;
    net->vectors = b->distinct;
    if (drops_apart(&net->pass)) {
        int32_t *own = vd_arena_take_raw(arena, all, sizeof *own);
        for (size_t i = 0; own && i < all; i++)
            own[i] = (int32_t)i;
        option = own;
        net->vectors = (int)all;
    }
    net->option = option ? vd_arena_upload(arena, option, all, sizeof *option) : NULL;
    return net->option ? VD_OK : vd_error_memory(err, "candidate scores");
}

vd_status vd_discriminative_forward(vd_network *net, vd_error *err)
{
    if (net->kept)
        return score_kept(net, err);

    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    int h = pass->config->hidden, n = pass->span.questions;
    size_t all = (size_t)n * (size_t)batch->candidates;
    vd_status status = number_vectors(net, err);
    if (status != VD_OK)
        return status;
    int u = net->vectors;
    net->vector = vd_arena_zeros(pass->arena, (size_t)u * (size_t)h);
    net->products = vd_arena_reals(pass->arena, (size_t)n * (size_t)u);
    vd_pass_take(pass, all, &net->scores, &net->dscores);
    if (pass->dw)
        net->dvector = vd_arena_zeros(pass->arena, (size_t)u * (size_t)h);
    if (pass->arena->failed)
        return vd_error_memory(err, "candidate scores");
    status = encode_candidates(net, err);
    if (status != VD_OK)
        return status;
    vd_multiply(pass->be, false, true, n, u, h, pass->encoded, net->vector, 0, net->products);
    pass->be->gather(net->products, net->option, n, batch->candidates, u, net->scores);
    return VD_OK;
}

vd_status vd_discriminative_backward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    vd_prefixes *p = &net->candidate;
    const vd_batch *batch = net->batch;
    int h = pass->config->hidden, n = pass->span.questions, u = net->vectors;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)p->text.inputs * (size_t)pass->config->embed);
    if (!dinput)
        return vd_error_memory(err, "candidate gradients");
    vd_real *dproducts = net->products;
    pass->be->gather_backward(net->dscores, net->option, n, batch->candidates, u, dproducts);
    vd_multiply(pass->be, false, false, n, h, u, dproducts, net->vector, 1, pass->dencoded);
    vd_multiply(pass->be, true, false, u, h, n, dproducts, pass->encoded, 1, net->dvector);
    pass->be->copy_rows(net->dvector, h, p->answer, p->ends, h, p->end_vector, h);
    pass->be->scatter_rows(p->end_vector, h, p->end_row, p->ends, h, p->text.recurrent.dy, h);
    vd_status status =
        vd_recurrent_backward(pass, &p->text.recurrent, pass->dw->candidate, dinput, NULL, err);
    if (status == VD_OK)
        vd_words_backward(pass, &p->text, dinput, VD_SITE_CANDIDATE_WORDS);
    return status;
}

// ---- loss ---------------------------------------------------------------------------------------

vd_status vd_discriminative_loss(vd_network *net, int margin, double lambda, const vd_totals *of,
                                 double *loss, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    int n = pass->span.questions;
    int64_t known = of ? of->questions : vd_batch_totals(batch).questions;
    vd_candidate_loss l = {
        .questions = n,
        .candidates = batch->candidates,
        .hidden = pass->config->hidden,
        .margin = margin,
        .lambda = lambda,
        .scale = known ? 1 / (double)known : 0,
        .truth = vd_arena_upload(pass->arena, batch->truth, (size_t)n, sizeof *batch->truth),
        .relevance = batch->relevance ? vd_arena_upload(pass->arena, batch->relevance,
                                                        (size_t)n * (size_t)batch->candidates,
                                                        sizeof *batch->relevance)
                                      : NULL,
        .option = net->option,
        .scores = net->scores,
        .vector = net->vector,
        .encoded = pass->encoded,
        .dscores = net->dscores,
        .dvector = net->dvector,
        .dencoded = pass->dencoded,
        .loss = vd_arena_numbers(pass->arena, 1, sizeof *l.loss)};
    if (pass->arena->failed)
        return vd_error_memory(err, "the loss");
    pass->be->candidate_loss(&l);
    pass->be->memory->download(loss, l.loss, sizeof *loss);
    return vd_backend_status(pass->be, err);
}
