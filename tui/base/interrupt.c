#include "tui/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static atomic_int caught;
static struct sigaction previous[2];
static const int signals[2] = {SIGINT, SIGTERM};

static void handle(int number)
{
    atomic_store(&caught, number);
}

const atomic_int *vd_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    atomic_store(&caught, 0);
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &action, &previous[i]);
    return &caught;
}

void vd_interrupt_release(void)
{
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &previous[i], NULL);
}
