// From a typed question to the ranking of the whole pool: the bundled pictures with the questions
// that go with them, each dialog growing as it is asked, as in a chat.
#include "tests/bench/bench.h"

#include "engine/base/alloc.h"
#include "engine/model/model.h"
#include "tui/session/session.h"

enum { ROUNDS = 10, MOST = 4096 };

typedef struct figures {
    double all[MOST], first[MOST], last[MOST];
    size_t asked, pictures;
} figures;

static vd_status ask_all(vd_session *session, const vd_visdial *data, size_t picture,
                         figures *times, vd_error *err)
{
    vd_status status = vd_session_picture(session, picture, err);
    const vd_visdial_dialog *dialog = &data->dialogs[picture];
    for (int i = 0; status == VD_OK && i < dialog->round_count && i < ROUNDS; i++) {
        vd_reply reply = {0};
        double start = bench_now();
        status =
            vd_session_ask(session, data->questions[dialog->rounds[i].question], NULL, &reply, err);
        double took = bench_now() - start;
        if (status != VD_OK)
            break;
        if (times->asked < MOST)
            times->all[times->asked++] = took;
        if (i == 0 && times->pictures < MOST)
            times->first[times->pictures] = took;
        if (i == dialog->round_count - 1 && times->pictures < MOST)
            times->last[times->pictures++] = took;
        int chosen = reply.answer.order[0];
        status = vd_session_accept(session, &reply, chosen, err);
    }
    return status;
}

static vd_status measure(vd_world *world, const char *model, vd_error *err)
{
    vd_session *session = NULL;
    double start = bench_now();
    vd_status status = vd_session_new(world, model, &session, err);
    if (status != VD_OK)
        return status;
    printf("%s: %zu numbers, pool of %zu answers, loaded and pool encoded in %.1f ms\n", model,
           vd_model_parameters(session->model), world->pool.count, bench_now() - start);

    figures *times = vd_alloc(1, sizeof *times);
    if (!times) {
        vd_session_free(session);
        return vd_error_memory(err, "the figures");
    }
    // The first dialog only warms up: caches, threads, page faults.
    status = ask_all(session, world->dialogs, 0, times, err);
    times->asked = times->pictures = 0;
    for (size_t i = 0; status == VD_OK && i < vd_world_count(world); i++)
        status = ask_all(session, world->dialogs, i, times, err);
    if (status == VD_OK) {
        bench_report("question to ranking, every round", times->all, times->asked);
        bench_report("question to ranking, first round", times->first, times->pictures);
        bench_report("question to ranking, last round", times->last, times->pictures);
    }
    vd_free(times);
    vd_session_free(session);
    return status;
}

int main(int argc, char **argv)
{
    vd_error err = {0};
    vd_world *world = NULL;
    bench_machine("bench_ask");
    if (vd_world_open_files(&(vd_world_files){0}, &world, &err) != VD_OK)
        return bench_fail(&err);
    vd_status status = VD_OK;
    if (argc > 1) {
        for (int i = 1; i < argc && status == VD_OK; i++)
            status = measure(world, argv[i], &err);
    } else {
        status = measure(world, "base", &err);
        if (status == VD_OK)
            status = measure(world, "improved", &err);
    }
    vd_world_close(world);
    return status == VD_OK ? 0 : bench_fail(&err);
}
