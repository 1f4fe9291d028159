// State outside the program that a screen changes: the terminal, which is restored when the program
// is killed, and standard error, which is kept in memory.
#ifndef VD_RESCUE_H
#define VD_RESCUE_H

#include <termios.h>

typedef struct vd_kept_errors {
    int log;            // where standard error goes (memfd), -1 none
    int standard_error; // the real one, -1 while not redirected
} vd_kept_errors;

// Standard error is kept from now on; then what went there is written to the real one.
void vd_errors_keep(vd_kept_errors *kept);
void vd_errors_show(vd_kept_errors *kept);

// Every signal that ends the program restores the terminal first; kept: is written then.
void vd_rescue_arm(const struct termios *modes, const vd_kept_errors *kept);
void vd_rescue_disarm(void);

#endif
