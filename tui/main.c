#include "tui/command.h"

int main(int argc, char **argv)
{
    return vd_command_main(argc, argv);
}
