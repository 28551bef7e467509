//! The families of measures of `trec_eval`, and the groups that stand for many of them.

use Groups::{More, MoreAndSet, NoGroup, Official, OfficialAndSet};

/// The groups that hold a family. `all_trec` holds all but those of `NoGroup`.
#[derive(Debug, Clone, Copy)]
enum Groups {
    Official,
    OfficialAndSet,
    More,
    MoreAndSet,
    NoGroup,
}

/// In the order in which `trec_eval` prints them.
const FAMILIES: [(&str, Groups); 40] = [
    ("runid", OfficialAndSet),
    ("num_q", OfficialAndSet),
    ("num_ret", OfficialAndSet),
    ("num_rel", OfficialAndSet),
    ("num_rel_ret", OfficialAndSet),
    ("map", Official),
    ("gm_map", Official),
    ("Rprec", Official),
    ("bpref", Official),
    ("recip_rank", Official),
    ("iprec_at_recall", Official),
    ("P", Official),
    ("relstring", More),
    ("recall", More),
    ("infAP", More),
    ("gm_bpref", More),
    ("Rprec_mult", More),
    ("utility", MoreAndSet),
    ("11pt_avg", More),
    ("binG", More),
    ("G", More),
    ("dcg", NoGroup),
    ("ideal_dcg", NoGroup),
    ("ndcg", More),
    ("ndcg_rel", More),
    ("Rndcg", More),
    ("ndcg_cut", More),
    ("map_cut", More),
    ("relative_P", More),
    ("success", More),
    ("set_P", MoreAndSet),
    ("set_relative_P", MoreAndSet),
    ("set_recall", MoreAndSet),
    ("set_map", MoreAndSet),
    ("set_F", MoreAndSet),
    ("num_nonrel_judged_ret", More),
    ("yaap", NoGroup),
    ("rbp", More),
    ("rbp_resid", More),
    ("unj", More),
];

/// The place of a family in the output of `trec_eval`; `None` if there is no such family.
pub(super) fn place(name: &str) -> Option<usize> {
    FAMILIES.iter().position(|(family, _)| *family == name)
}

/// The families of `official`, `set` or `all_trec`; `None` for another name.
pub(super) fn of_group(name: &str) -> Option<Vec<&'static str>> {
    let holds: fn(Groups) -> bool = match name {
        "official" => |it| matches!(it, Official | OfficialAndSet),
        "set" => |it| matches!(it, OfficialAndSet | MoreAndSet),
        "all_trec" => |it| !matches!(it, NoGroup),
        _ => return None,
    };
    let families = FAMILIES.iter().filter(|(_, groups)| holds(*groups));
    Some(families.map(|(family, _)| *family).collect())
}
