#!/bin/sh
# Takes the README's screenshots of build/visdial anew, in kitty on a screen of its own.
#
#     tests/screen/screenshots.sh [DIRECTORY]     (assets)
#
# Needs kitty, Xvfb and ImageMagick's import (Debian: kitty xvfb imagemagick).
set -eu
out=${1:-assets}
program=$(realpath "${VISDIAL_BIN:-build/visdial}")
work=$(mktemp -d)
export DISPLAY=:${SCREEN_NUMBER:-77} LIBGL_ALWAYS_SOFTWARE=1 HOME="$work" XDG_CONFIG_HOME="$work/config" \
    XDG_STATE_HOME="$work/state" XDG_DATA_HOME="$work/data"

# shot NAME HEIGHT PICTURE KEYS...: each of KEYS is what kitty sends, "\r" for Enter.
shot() {
    name=$1 height=$2 picture=$3
    shift 3
    Xvfb "$DISPLAY" -screen 0 "1201x${height}x24" >/dev/null 2>&1 &
    xvfb=$!
    sleep 1
    kitty --config NONE -o allow_remote_control=yes -o font_size=12 -o font_family="DejaVu Sans Mono" \
        -o background=#171a1f -o foreground=#d4d7db -o remember_window_size=no -o initial_window_width=1201 \
        -o initial_window_height="$height" -o window_padding_width=0 -o cursor_blink_interval=0 \
        -o hide_window_decorations=yes --listen-on "unix:$work/kitty" \
        "$program" chat --image "$picture" >/dev/null 2>&1 &
    kitty=$!
    sleep 4
    for keys in "$@"; do
        kitty @ --to "unix:$work/kitty" send-text "$keys"
        sleep 1.5
    done
    sleep 1
    import -window root -colors 256 "png8:$out/$name.png"
    kill $kitty $xvfb
    wait || true
    rm -f "$work/kitty"
}

trap 'rm -rf "$work"' EXIT
first='how many things are there\r' second='what is on the far left\r' third='is it bigger than the purple ball\r'
fourth='what is behind the cylinder\r' fifth='and what is it made of\r'
shot screenshot 685 1000003 "$first" "$second" "$third" "$fourth" "$fifth"
shot screenshot-compare 685 1000003 "$first" "$second" "$third" "$fourth" "$fifth" '/compare base\r'
shot screenshot-walk 761 1000009 'how many yellow things are there\r' '/walk\r' '\x1b[C' '\x1b[C' '\x1b[C' '\x1b[C' '\x1b[C' '\x1b[C'
