# bash completion for visdial; made by `visdial help --completion bash`
_visdial() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'chat ask walk train curves eval compare replay blocks extract data features study pool import info help --help --version' -- "$word"))
        return
    fi
    case $previous in
    --model) COMPREPLY=($(compgen -W 'base improved' -- "$word")
                        $(compgen -f -- "$word")); return ;;
    --preset) COMPREPLY=($(compgen -W 'base improved' -- "$word")); return ;;
    esac
    local options= words=
    case ${COMP_WORDS[1]} in
    chat) options='--image --model --assets --data --features --images --dense --decoder --backend --resume --transcript --no-transcript --theme --fold --no-mouse --help' ;;
    ask) options='--image --model --assets --data --features --top --fold --decoder --backend --json --help' ;;
    walk) options='--image --model --assets --decoder --what-if --markdown --json --help' ;;
    train) options='--data --features --val --val-features --val-dense --val-limit --from --vocab --glove --out --resume --checkpoint-every --checkpoint-steps --stop-after --backend --precision --quiet --watch --preset --embed --hidden --gate --positions --decoder --optimiser --rate --clip --margin --lambda-start --lambda-decay --lambda-floor --dropout --lstm-dropout --position-dropout --open-gates --seed --batch --micro-batch --epochs --min-count --pool --half --help' ;;
    curves) options='--tag --width --height --watch --help' ;;
    eval) options='--model --data --features --dense --from-ranks --ranks --decoder --assets --limit --batch --threads --resamples --seed --backend --other-image --no-history --json --quiet --help' ;;
    compare) options='--model --decoder --data --features --dense --pictures --assets --limit --threads --right --group --family --round --find --cases --resamples --html --markdown --json --screen --quiet --help' ;;
    replay) options='--image --screen --model --data --features --dense --pictures --assets --decoder --tolerance --no-check --html --markdown --visdial --help' ;;
    blocks) options='--out --seed --train --val --test --pictures --no-pictures --no-features --extractor --threads --split --count --index --png --quiet --help' words='make world show' ;;
    extract) options='--out --model --show --train --evaluate --split --pictures --epochs --rate --seed --quiet --help' ;;
    data) options='--out --model --vocab --min-count --top --help' words='info pack vocab' ;;
    features) options='--out --index --f32 --data --images --quiet --help' words='info import' ;;
    study) options='--data --dense --against --limit --resamples --seed --json --help' ;;
    pool) options='--data --top --model --out --quiet --help' words='build' ;;
    import) options='--words --out --gate --positions --min-count --pool --half --help' ;;
    info) options='--help' ;;
    help) options='--completion --manual --help' words='chat ask walk train eval compare replay blocks extract data features pool info help' ;;
    esac
    if [ "${word#-}" != "$word" ]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _visdial visdial
