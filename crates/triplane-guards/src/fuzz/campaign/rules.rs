//! The rules that ship, as files of somebody else.

use std::fs;
use std::path::Path;

use crate::fuzz::campaign::child::Campaign;
use crate::fuzz::rules;

#[test]
fn any_rule_file_is_taken_or_refused_with_its_place() {
    Campaign {
        test: "rules::any_rule_file_is_taken_or_refused_with_its_place",
        fragments: FRAGMENTS,
        body: rules,
    }
    .run(seeds);
}

fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut seeds: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            // One rule is enough for a seed; ids get a name that is not taken.
            let parts = text.split("\n\n").skip(1);
            let parts =
                parts.map(|part| format!("version = 1\n{part}").replace("id = \"", "id = \"x."));
            parts.collect::<Vec<_>>()
        })
        .collect();
    seeds.push(
        "version = 1\n[[allow]]\nid = \"a\"\nrule = \"git.push-force\"\ncommand = \"git push -f\"\n\
         reason = \"r\"\nexpires = 2027-01-31\n"
            .to_owned(),
    );
    seeds
}

const FRAGMENTS: &[&str] = &[
    "[",
    "]",
    "[[rule]]\n",
    "[[program]]\n",
    "[[allow]]\n",
    "version = 1\n",
    "version = 2\n",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "=",
    "\n",
    "#",
    ",",
    "\\",
    "\\u{0}",
    "\\u00e9",
    "id = \"a\"\n",
    "id = \"\"\n",
    "tier = \"catastrophic\"\n",
    "set = \"strict\"\n",
    "text = \"(\"\n",
    "text = \"(a{9}){9}\"\n",
    "scope = [\"device\"]\n",
    "on = \"-x\"\n",
    "flags = [[]]\n",
    "operands_min = 9\n",
    "deny = []\n",
    "allow = [\"ls\"]\n",
    "expires = 1979-05-27T07:32:00Z\n",
    "expires = \"x\"\n",
    "folder = \"/\"\n",
    "sub = \"-\"\n",
    "values = [\"-a\"]\n",
    "{",
    "}",
    "a.b = 1\n",
    "\u{e9}",
    "\0",
    "\r",
];
