// Every setting of a network and of its training, one row each: the one place for its name, bounds,
// default and help. From these rows are made
//
//   vd_config_settings  the metadata "config" of models (engine/networks/config.c)
//   vd_caption_settings the same of captioners (engine/networks/captions/config.c)
//   vd_train_settings   the metadata "options" of checkpoints (engine/train/options.c)
//   the options of `visdial train`: parsing, errors, help and completion (tui/commands/train.c)
//
// X(member, name, kind, least, most, initial, choices, optional, help), the columns of vd_setting
// (engine/base/settings.h) and what the help says; both bounds are possible values. Rows of BY_TASK
// have the defaults of captioners and of SCST behind `initial`. tests/unit/test_settings.c tests
// all of them with every row.
#ifndef VD_NETWORK_SETTINGS_H
#define VD_NETWORK_SETTINGS_H

// Defaults and bounds that several places need.
#define VD_MIN_COUNT     5
#define VD_MOST_COUNT    1000000000
#define VD_WARM_UP_RATE  1 // of schedule warm-up
#define VD_TEXT_OF(name) VD_TEXT(name)
#define VD_TEXT(value)   #value

// Of vd_config; they follow from the data and are no options.
#define VD_DATA_SETTINGS(X)                                                                        \
    X(vocab, "vocab", INT, 5, 10000000, 5, NULL, false, "words")                                   \
    X(region, "region", INT, 1, 65536, 1, NULL, false, "numbers of a region")

// Of vd_config and of vd_caption_config.
#define VD_SIZE_SETTINGS(X)                                                                        \
    X(embed, "embed", INT, 1, 65536, 64, NULL, false, "size of a word vector")                     \
    X(hidden, "hidden", INT, 1, 65536, 128, NULL, false,                                           \
      "size of an LSTM state; captioner: of a vector")                                             \
    X(heads, "heads", INT, 0, 64, 0, NULL, true,                                                   \
      "dialog-transformer, text qanet or transformer, score multi-head, captioner transformer or " \
      "cat: attention heads; 0: 4, or fewer where dialog-transformer's --embed is not divisible "  \
      "by 4")

// Of vd_config. Models from before there was a choice have no decoder: discriminative. Those from
// before there were other networks are MVAN.
#define VD_NETWORK_SETTINGS(X)                                                                     \
    X(network, "network", CHOICE, VD_NETWORK_MVAN, VD_NETWORKS - 1, VD_NETWORK_MVAN,               \
      vd_network_names, true,                                                                      \
      "network to train: mvan (default), lf, lf-att, lf-bu, hre, hrea, mn, mn-att, mac, amem, "    \
      "memn2n, dmn, bidaf, dcn or dialog-transformer")                                             \
    VD_SIZE_SETTINGS(X)                                                                            \
    X(gate, "gate", CHOICE, VD_GATE_LEAKY_RELU, VD_GATE_ELU, VD_GATE_LEAKY_RELU, vd_gate_names,    \
      false, "activation of the gates: sigmoid, leaky-relu or elu")                                \
    X(positions, "positions", CHOICE, VD_POSITIONS_NONE, VD_POSITIONS_AS_PRINTED,                  \
      VD_POSITIONS_SINUSOIDAL, vd_positions_names, false,                                          \
      "positions added to word vectors: none, sinusoidal, learned or as-printed; as-printed: "     \
      "sinusoidal, of the sequence's index in the batch, as in the thesis' printed code")          \
    X(decoders, "decoder", CHOICE, VD_DISCRIMINATIVE, VD_BOTH, VD_DISCRIMINATIVE,                  \
      vd_decoders_names, true, "decoder to train: discriminative (default), generative or both")   \
    X(text, "text", CHOICE, VD_TEXT_OWN, VD_TEXT_ENCODERS - 1, VD_TEXT_OWN, vd_text_names, true,   \
      "text encoder of questions and history: own (default: the network's), lstm, bilstm, gru, "   \
      "convs2s, gldr, qanet or transformer; dialog-transformer: own only")                         \
    X(score_rounds, "score-rounds", CHOICE, VD_SCORE_OWN, VD_SCORE_SUM, VD_SCORE_OWN,              \
      vd_score_names, true,                                                                        \
      "hrea, mn, mn-att: score of the attention over rounds: own, additive, dot, scaled, "         \
      "bilinear, product, multi-head or sum")                                                      \
    X(score_regions, "score-regions", CHOICE, VD_SCORE_OWN, VD_SCORE_MULTI_HEAD, VD_SCORE_OWN,     \
      vd_score_names, true,                                                                        \
      "lf-att, lf-bu, mn-att: score of the attention over regions: own, additive, dot, scaled, "   \
      "bilinear, product or multi-head")                                                           \
    X(hops, "hops", INT, 0, 16, 0, NULL, true,                                                     \
      "mac, amem: steps; memn2n, dmn: hops; dialog-transformer: layers; 0: the network's default") \
    X(tying, "tying", CHOICE, VD_TYING_ADJACENT, VD_TYING_LAYER_WISE, VD_TYING_ADJACENT,           \
      vd_tying_names, true, "memn2n: weight tying: adjacent (default) or layer-wise")              \
    X(image, "image", CHOICE, VD_IMAGE_CHANNELS, VD_IMAGE_RAW, VD_IMAGE_CHANNELS, vd_image_names,  \
      true,                                                                                        \
      "lf-att, lf-bu, mn-att, memn2n, dmn, bidaf, dcn, and mvan with --text: features are "        \
      "divided by the norm of each channel over the regions (channels), of each region (region), " \
      "or by nothing (raw)")                                                                       \
    X(boundaries, "boundaries", CHOICE, VD_BOUNDARIES_BOTH, VD_BOUNDARIES_NONE,                    \
      VD_BOUNDARIES_BOTH, vd_boundaries_names, true,                                               \
      "all but mvan: answers are encoded with a start and an end token (both) or without (none)")  \
    X(answer, "answer", CHOICE, VD_ANSWER_LSTM, VD_ANSWER_SEQUENCE, VD_ANSWER_LSTM,                \
      vd_answer_names, true,                                                                       \
      "generative decoder: lstm (default); with attention over the words of the dialog: "          \
      "lstm-attention or conv (ConvS2S); dialog-transformer: sequence, the network itself "        \
      "generates the answer as the continuation of the dialog")                                    \
    X(score_words, "score-words", CHOICE, VD_SCORE_OWN, VD_SCORE_PRODUCT, VD_SCORE_OWN,            \
      vd_score_names, true,                                                                        \
      "lstm-attention: score of the attention over words: own, additive, dot, scaled, bilinear "   \
      "or product")                                                                                \
    X(copy, "copy", CHOICE, VD_COPY_NONE, VD_COPY_COPYNET, VD_COPY_NONE, vd_copy_names, true,      \
      "lstm-attention: copy words of the dialog into answers, also words outside the vocabulary: " \
      "none (default), pointer or copynet")

// Of vd_caption_config, with --task caption.
#define VD_CAPTION_SETTINGS(X)                                                                     \
    X(captioner, "captioner", CHOICE, VD_CAPTIONER_TRANSFORMER, VD_CAPTIONERS - 1,                 \
      VD_CAPTIONER_TRANSFORMER, vd_captioner_names, false,                                         \
      "captioner: transformer (default), cat, sat-soft or sat-hard")                               \
    X(layers, "layers", INT, 1, 8, 2, NULL, false,                                                 \
      "transformer, cat: layers of the encoder, and of the decoder")                               \
    X(inner, "inner", INT, 1, 65536, 256, NULL, false,                                             \
      "captioner: inner size of a feed-forward layer; sat-soft, sat-hard: of the attention")       \
    X(history, "history", CHOICE, VD_HISTORY_OWN, VD_HISTORY_NONE, VD_HISTORY_OWN,                 \
      vd_history_names, false,                                                                     \
      "cat, sat-soft: what the second attention covers beside the regions: the attention results " \
      "of the words so far (complete), without the current word (past), of the current word "      \
      "(now), as complete but without the regions (only), the queries (light; cat, without the "   \
      "first attention), none, or own (default; cat: complete, sat-soft: none)")                   \
    X(shared, "shared", CHOICE, 0, 1, 1, vd_no_yes_names, false,                                   \
      "cat: whether both attentions share their weights: yes (default) or no")                     \
    X(history_norm, "history-norm", CHOICE, 0, 1, 0, vd_no_yes_names, false,                       \
      "cat: whether the history is normalised: no (default) or yes")                               \
    X(awc, "awc", CHOICE, VD_AWC_NONE, VD_AWC_LEARNT, VD_AWC_NONE, vd_awc_names, false,            \
      "pull the weight that heads give to the history towards a level (attention weight "          \
      "coherence): none (default), fixed or learnt")                                               \
    X(awc_level, "awc-level", REAL, -1e9, 1e9, 0.5, NULL, false,                                   \
      "level of --awc; with learnt: its initial value")                                            \
    X(awc_weight, "awc-weight", REAL, 0, 1e9, 0.5, NULL, false, "weight of --awc in the loss")     \
    X(seen_weight, "seen-weight", REAL, 0, 1e9, 1, NULL, true,                                     \
      "sat-soft: weight of the loss that asks for the same total attention, over all words, at "   \
      "each region (doubly stochastic attention, Xu et al. 2015)")                                 \
    X(seen_target, "seen-target", REAL, 0, 1e9, 1, NULL, true,                                     \
      "sat-soft: that total; 0: number of words / number of regions")                              \
    X(reward_weight, "reward-weight", REAL, 0, 1e9, 6.4, NULL, true,                               \
      "sat-hard: weight of the reward (REINFORCE)")                                                \
    X(entropy_weight, "entropy-weight", REAL, 0, 1e9, 0.128, NULL, true,                           \
      "sat-hard: weight of the attention's entropy")                                               \
    X(soft_share, "soft-share", REAL, 0, 1, 0.5, NULL, true,                                       \
      "sat-hard: share of captions trained with soft attention")                                   \
    X(smoothing, "smoothing", REAL, 0, 0.99, 0, NULL, false,                                       \
      "captioner: label smoothing: probability spread over all other words")                       \
    X(ce, "ce", CHOICE, VD_CE_MEAN, VD_CES - 1, VD_CE_MEAN, vd_ce_names, true,                     \
      "transformer, cat: cross entropy: mean over all words (mean, default) or sum over each "     \
      "caption's words (sum)")

// Of vd_train_options. Those that are optional came later: earlier checkpoints have them elsewhere.
#define VD_TRAIN_SETTINGS(X, BY_TASK)                                                              \
    X(optimiser, "optimiser", CHOICE, VD_ADAM, VD_OPTIMISERS - 1, VD_ADAM, vd_optimiser_names,     \
      false, "adam, rmsprop, adamax or adamw (adam with decoupled weight decay)")                  \
    BY_TASK(rate, "rate", REAL, 1e-9, 1000, 0.001, 0.002, 5e-06, NULL, false,                      \
            "base learning rate; default with schedule warm-up: " VD_TEXT_OF(VD_WARM_UP_RATE))     \
    BY_TASK(                                                                                       \
        schedule, "schedule", CHOICE, VD_SCHEDULE_STEPS, VD_SCHEDULES - 1, VD_SCHEDULE_STEPS,      \
        VD_SCHEDULE_COSINE, VD_SCHEDULE_CONSTANT, vd_schedule_names, true,                         \
        "of the learning rate: steps (default: rises for 1/4 of the run, x0.1 at 5/8 and "         \
        "6/8), cosine (captions: default; rises for 1/32 of the run, falls to 0.02), constant "    \
        "(SCST: default) or warm-up (hidden^-0.5 min(step^-0.5, step W^-1.5), W from "             \
        "--warm-up)")                                                                              \
    X(warm_up, "warm-up", INT, 1, 1000000000, 10000, NULL, true,                                   \
      "schedule warm-up: steps to the highest rate")                                               \
    X(beta_1, "beta-1", REAL, 0, 0.999999, 0.9, NULL, true,                                        \
      "adam, adamax, adamw: decay of the first moment")                                            \
    X(beta_2, "beta-2", REAL, 0, 0.999999, 0.999, NULL, true,                                      \
      "adam, adamax, adamw: decay of the second moment (adamax: infinity norm)")                   \
    X(epsilon, "epsilon", REAL, 1e-30, 1, 1e-08, NULL, true,                                       \
      "adam, adamax, adamw: added to the denominator")                                             \
    X(weight_decay, "weight-decay", REAL, 0, 1, 0.01, NULL, true,                                  \
      "adamw: weight decay, w -= rate X w in every step; of matrices, not of biases, norms and "   \
      "word vectors")                                                                              \
    BY_TASK(clip, "clip", REAL, 0, 1e9, 0, 5, 5, NULL, false,                                      \
            "clip the norm of the whole gradient to X; 0: no clipping")                            \
    X(margin, "margin", INT, 1, 4, 4, NULL, false,                                                 \
      "margin of the L-softmax loss, 2 to 4; 1: the plain softmax")                                \
    X(lambda_start, "lambda-start", REAL, 0, 1e9, 1000, NULL, false,                               \
      "L-softmax annealing: lambda at the first step")                                             \
    X(lambda_decay, "lambda-decay", REAL, 0, 1, 0.999, NULL, false,                                \
      "lambda is multiplied by X at every step")                                                   \
    X(lambda_floor, "lambda-floor", REAL, 0, 1e9, 5, NULL, false, "lambda does not fall below X")  \
    BY_TASK(dropout, "dropout", REAL, 0, 0.99, 0.25, 0.1, 0, NULL, false,                          \
            "dropout before the attention layers, MLP and fusion")                                 \
    X(lstm_dropout, "lstm-dropout", REAL, 0, 0.99, 0.4, NULL, false,                               \
      "dropout between LSTM layers")                                                               \
    X(position_dropout, "position-dropout", REAL, 0, 0.99, 0.1, NULL, false,                       \
      "dropout after adding positions")                                                            \
    X(own_masks, "own-masks", SWITCH, 0, 1, 0, NULL, true,                                         \
      "draw dropout masks for every candidate of every round, as the public code does; without "   \
      "it, equal candidates and equal prefixes share masks, which is faster")                      \
    X(text_dropout, "text-dropout", REAL, -1, 0.99, -1, NULL, true,                                \
      "dropout inside --text convs2s, gldr, qanet or transformer; below 0: the default, 0.1 "      \
      "(gldr: 0.2)")                                                                               \
    X(random_time, "random-time", REAL, 0, 1, 0.1, NULL, true,                                     \
      "memn2n, in training: insert none to X times the number of history entries, empty ones, at " \
      "random places, so that the others get older; drawn for every question")                     \
    X(linear_start, "linear-start", REAL, 0, 1, 0, NULL, true,                                     \
      "memn2n: share of the epochs, the first ones, without softmax in the hops and at half the "  \
      "learning rate")                                                                             \
    X(coverage, "coverage", REAL, 0, 1e9, 0, NULL, true,                                           \
      "copy pointer: weight of the coverage loss in the last epoch, against attending to the "     \
      "same words again (See et al. 2017: 1); 0: none")                                            \
    X(next_word, "next-word", REAL, 0, 1e9, 0, NULL, true,                                         \
      "dialog-transformer: weight of the cross entropy of the next word, over all text of the "    \
      "dialog, added to the loss (0.05 to 0.2 are usual); 0: none")                                \
    X(open_gates, "open-gates", SWITCH, 0, 1, 0, NULL, false,                                      \
      "start LeakyReLU and ELU gates as the sigmoid's tangent 1/2 + x/4")                          \
    X(scst, "scst", CHOICE, VD_SCST_NONE, VD_SCSTS - 1, VD_SCST_NONE, vd_scst_names, true,         \
      "captioner, with --from: self-critical sequence training (SCST); reward: cider-d (against "  \
      "--data), bits (true bits by Blocks' scenes) or none (default: no SCST)")                    \
    X(sample, "sample", CHOICE, VD_SAMPLE_BEAM, VD_SAMPLES - 1, VD_SAMPLE_BEAM, vd_sample_names,   \
      true, "scst: how captions are generated: beam (beam search, default) or draw (sampling)")    \
    X(sample_size, "sample-size", INT, 2, 32, 5, NULL, true,                                       \
      "scst: captions generated per picture")                                                      \
    X(baseline, "baseline", CHOICE, VD_BASELINE_MEAN, VD_BASELINES - 1, VD_BASELINE_MEAN,          \
      vd_baseline_names, true,                                                                     \
      "scst: baseline of a caption's reward: the mean of all the picture's captions (mean, "       \
      "default), of its other captions (others), or the greedy caption's reward (greedy)")         \
    X(eos, "eos", CHOICE, VD_EOS_IN, VD_EOSS - 1, VD_EOS_IN, vd_eos_names, true,                   \
      "scst cider-d: whether the end token counts as part of a caption: in (default) or out")      \
    X(reward_most, "reward-most", REAL, 0, 1e9, 0, NULL, true,                                     \
      "scst: limit rewards to X, so that all good captions count the same; 0: no limit")           \
    X(variety, "variety", REAL, 0, 1e9, 0, NULL, true,                                             \
      "scst bits: bonus for rare kinds of claims: X times -log2 of the share of the batch's "      \
      "captions that make the same kind of claim")                                                 \
    X(ce_weight, "ce-weight", REAL, 0, 1e9, 0, NULL, true,                                         \
      "scst: weight of the cross entropy of the captions of --data, added to the loss")            \
    X(seed, "seed", SEED, 0, 1e15, 1, NULL, false,                                                 \
      "seed of initial weights, shuffling and dropout")                                            \
    BY_TASK(                                                                                       \
        batch, "batch", INT, 1, 1024, 32, 50, 10, NULL, true,                                      \
        "dialogs per batch; captioner: pictures per batch, by default as many as have about 50 "   \
        "captions together (SCST: 10)")                                                            \
    X(micro_batch, "micro-batch", INT, 0, 1024, 0, NULL, true,                                     \
      "compute the gradient of a batch N dialogs at a time; 0: all at once")                       \
    BY_TASK(epochs, "epochs", INT, 1, 1000, 8, 10, 10, NULL, true,                                 \
            "passes over the data; the learning rate schedule scales with them")                   \
    X(patience, "patience", INT, 0, 1000, 0, NULL, true,                                           \
      "stop after N epochs without improvement on --val; --coverage adds one more, with its "      \
      "loss; 0: never")                                                                            \
    X(best_by, "best-by", CHOICE, VD_BEST_OWN, VD_BESTS - 1, VD_BEST_OWN, vd_best_names, true,     \
      "captioner: measure of the best epoch: own (default: ce, the cross entropy; with --scst "    \
      "the reward), or of greedy captions cider-d, bleu-4 or, on Blocks, faithful or bits")        \
    X(min_count, "min-count", INT, 1, VD_MOST_COUNT, VD_MIN_COUNT, NULL, true,                     \
      "how often a word must occur to be in the vocabulary")                                       \
    X(pool, "pool", INT, 1, 1000000, 1000, NULL, true,                                             \
      "write the N most frequent answers to DIR/pool.txt")                                         \
    X(half, "half", SWITCH, 0, 1, 0, NULL, true, "write the model in half precision")

#endif
