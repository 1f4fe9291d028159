#include "tests/support/color.h"

#include <math.h>

// sRGB to CIELAB with the white point D65.
static void to_lab(const double rgb[3], double lab[3])
{
    static const double to_xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                        {0.2126729, 0.7151522, 0.0721750},
                                        {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    double linear[3], f[3];
    for (int c = 0; c < 3; c++) {
        double v = rgb[c] / 255;
        linear[c] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        double t = 0;
        for (int c = 0; c < 3; c++)
            t += to_xyz[i][c] * linear[c];
        t /= white[i];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static double degrees(double b, double a)
{
    double angle = b == 0 && a == 0 ? 0 : atan2(b, a) * 180 / M_PI;
    return angle < 0 ? angle + 360 : angle;
}

static double cosine(double angle)
{
    return cos(angle * M_PI / 180);
}

static double chroma_share(double c) // sqrt(C^7 / (C^7 + 25^7))
{
    return sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)));
}

// The names are those of the article's equations (2) to (22).
double color_distance_lab(const double a[3], const double b[3])
{
    double g = 0.5 * (1 - chroma_share((hypot(a[1], a[2]) + hypot(b[1], b[2])) / 2));
    double a1 = (1 + g) * a[1], a2 = (1 + g) * b[1];
    double c1 = hypot(a1, a[2]), c2 = hypot(a2, b[2]);
    double h1 = degrees(a[2], a1), h2 = degrees(b[2], a2);
    double dh = c1 * c2 == 0 ? 0 : h2 - h1, mean_h = h1 + h2;
    dh += dh > 180 ? -360 : dh < -180 ? 360 : 0;
    if (c1 * c2 != 0)
        mean_h = fabs(h1 - h2) <= 180 ? mean_h / 2 : (mean_h + (mean_h < 360 ? 360 : -360)) / 2;
    double dl = b[0] - a[0], dc = c2 - c1;
    double dH = 2 * sqrt(c1 * c2) * sin(dh / 2 * M_PI / 180);
    double l = (a[0] + b[0]) / 2, c = (c1 + c2) / 2;
    double t = 1 - 0.17 * cosine(mean_h - 30) + 0.24 * cosine(2 * mean_h) +
               0.32 * cosine(3 * mean_h + 6) - 0.20 * cosine(4 * mean_h - 63);
    double theta = 30 * exp(-pow((mean_h - 275) / 25, 2));
    double sl = 1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2));
    double sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
    double rt = -sin(2 * theta * M_PI / 180) * 2 * chroma_share(c);
    return sqrt(pow(dl / sl, 2) + pow(dc / sc, 2) + pow(dH / sh, 2) + rt * (dc / sc) * (dH / sh));
}

double color_distance(const double a[3], const double b[3])
{
    double lab_a[3], lab_b[3];
    to_lab(a, lab_a);
    to_lab(b, lab_b);
    return color_distance_lab(lab_a, lab_b);
}
