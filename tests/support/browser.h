// Headless Chromium, spoken to through a pipe (Chrome DevTools Protocol). A failure ends the test.
#ifndef VD_TEST_BROWSER_H
#define VD_TEST_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

#include "features/pictures/image.h"

typedef struct support_browser {
    pid_t pid;
    int to, from; // pipes
    char *profile;
    char *buffer; // bytes read but not used
    size_t used, room;
    int id;        // of the last command
    char page[80]; // session of the one page
    bool loaded;   // since the last navigation
    int faults;    // exceptions and refused loads that the page reported
    char fault[400];
} support_browser;

// False when there is no Chromium on this machine ($VISDIAL_CHROMIUM: another place to look at).
bool support_browser_here(void);
void support_browser_start(support_browser *browser, int width, int height);
void support_browser_stop(support_browser *browser);

void support_browser_open(support_browser *browser, const char *path, const char *fragment);
// The value of a JavaScript expression as text ("12", "true", "abc"), free().
char *support_browser_value(support_browser *browser, const char *expression);
double support_browser_number(support_browser *browser, const char *expression);
// A key by its DOM name ("j", "Escape", "ArrowDown"); the mouse in the middle of an element.
void support_browser_key(support_browser *browser, const char *key);
void support_browser_click(support_browser *browser, const char *selector);
void support_browser_media(support_browser *browser, const char *media); // "print", "" = screen
void support_browser_still(support_browser *browser, bool still);        // prefers reduced motion
void support_browser_size(support_browser *browser, int width, int height); // of the window
void support_browser_scripts(support_browser *browser, bool on);            // of pages opened later
// What is seen of the page; vd_image_clear. Kept as $VISDIAL_SCREENSHOTS/name.png when that is set.
vd_image support_browser_screenshot(support_browser *browser, const char *name);
// Pages of the page printed on A4.
int support_browser_printed(support_browser *browser);

#endif
