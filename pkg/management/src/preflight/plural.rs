//! Plurals for the check of definition names.

/// Words with an irregular plural, alone or at the end of a longer word.
const IRREGULAR_WORDS: &[(&str, &str)] = &[
    ("series", "series"),
    ("chassis", "chassis"),
    ("species", "species"),
    ("equipment", "equipment"),
    ("information", "information"),
    ("news", "news"),
    ("data", "data"),
    ("datum", "data"),
    ("media", "media"),
    ("medium", "media"),
    ("fish", "fish"),
    ("child", "children"),
    ("human", "humans"),
    ("man", "men"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("mouse", "mice"),
    ("person", "people"),
    ("index", "indices"),
    ("vertex", "vertices"),
    ("vortex", "vortices"),
    ("appendix", "appendices"),
    ("helix", "helices"),
    ("radius", "radii"),
    ("focus", "foci"),
    ("nucleus", "nuclei"),
    ("crisis", "crises"),
    ("thesis", "theses"),
    ("basis", "bases"),
    ("criterion", "criteria"),
    ("phenomenon", "phenomena"),
    ("alias", "aliases"),
    ("axis", "axes"),
    ("move", "moves"),
    ("hive", "hives"),
    ("thief", "thieves"),
    ("stadium", "stadiums"),
    ("potato", "potatoes"),
];

/// Endings in matching order. A word with a plural ending stays unchanged.
const ENDINGS: &[(&str, &str)] = &[
    ("eaf", "eaves"),
    ("oaf", "oaves"),
    ("afe", "aves"),
    ("arf", "arves"),
    ("rf", "rves"),
    ("lf", "lves"),
    ("fe", "ves"),
    ("ay", "ays"),
    ("ey", "eys"),
    ("oy", "oys"),
    ("quy", "quies"),
    ("uy", "uys"),
    ("y", "ies"),
    ("eau", "eaux"),
    ("hedron", "hedra"),
    ("ium", "ia"),
    ("imum", "ima"),
    ("trum", "tra"),
    ("entum", "enta"),
    ("trix", "trices"),
    ("iasis", "iases"),
    ("opsis", "opses"),
    ("ysis", "yses"),
    ("us", "uses"),
    ("ch", "ches"),
    ("io", "ios"),
    ("sh", "shes"),
    ("ss", "sses"),
    ("ez", "ezzes"),
    ("iz", "izzes"),
    ("tz", "tzes"),
    ("zz", "zzes"),
    ("ano", "anos"),
    ("lo", "los"),
    ("to", "tos"),
    ("oo", "oos"),
    ("o", "oes"),
    ("x", "xes"),
];

/// Returns the plural of a lower-case kind.
/// Shape: `IRREGULAR_WORDS` match first, then `ENDINGS`. Other words that end in `s` stay unchanged, and the rest
/// get an `s`.
/// Source: gobuffalo/flect 1.0, measured over kinds of providers; differs: words that no kind ends in are left out.
pub(super) fn plural(kind: &str) -> String {
    for (one, many) in IRREGULAR_WORDS.iter().chain(ENDINGS) {
        if kind.ends_with(many) {
            return kind.to_owned();
        }
        if let Some(stem) = kind.strip_suffix(one) {
            return format!("{stem}{many}");
        }
    }
    if kind.ends_with('s') { kind.to_owned() } else { format!("{kind}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured output of flect 1.0.3.
    const MEASURED: &str = "machine=machines cluster=clusters clusterclass=clusterclasses ippolicy=ippolicies \
        gateway=gateways ipaddress=ipaddresses status=statuses patch=patches mesh=meshes switch=switches \
        box=boxes index=indices matrix=matrices prefix=prefixes proxy=proxies key=keys series=series \
        chassis=chassis info=infoes metadata=metadata quota=quotas kubernetes=kubernetes database=databases \
        leaf=leaves self=selves radius=radii nexus=nexuses human=humans medium=media hostlease=hostleases \
        analysis=analyses zone=zones zoo=zoos photo=photos hero=heroes io=ios bus=buses gas=gas process=processes \
        roof=roofs safe=saves knife=knives native=natives drive=drives archive=archives cause=causes \
        response=responses awsfargateprofile=awsfargateprofiles fabric=fabrics stadium=stadiums minimum=minima \
        momentum=momenta spectrum=spectra datacenter=datacenters forum=forums album=albums quiz=quizzes \
        repo=repoes auto=autos demo=demoes policies=policies machines=machines house=houses";

    #[test]
    fn plurals_match_the_names_of_definitions() {
        for pair in MEASURED.split_whitespace() {
            let (kind, expected) = pair.split_once('=').unwrap();
            assert_eq!(plural(kind), expected, "{kind}");
        }
    }
}
