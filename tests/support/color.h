// How far apart people see two colours: CIEDE2000.
#ifndef VD_TEST_COLOR_H
#define VD_TEST_COLOR_H

double color_distance_lab(const double a[3], const double b[3]); // of CIELAB colours
double color_distance(const double a[3], const double b[3]);     // of sRGB ones, 0 to 255

#endif
