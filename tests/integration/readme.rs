//! The README's first command, as it stands there, on what the repository holds.

use crate::program::{Place, text, workspace};

#[test]
fn the_first_command_of_the_readme_does_what_it_says() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).expect("a README");
    let command = readme
        .lines()
        .find_map(|line| line.strip_prefix("cargo run --release -p triplane-cli -- "))
        .expect("the README runs the program");
    let words: Vec<String> = command
        .split_whitespace()
        .map(|word| {
            let path = workspace().join(word);
            if path.exists() {
                path.display().to_string()
            } else {
                word.to_owned()
            }
        })
        .collect();
    // The test brings a store of its own.
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (words, store) = words.split_at(words.len() - 2);
    assert_eq!(store[0], "--store");
    let place = Place::new();
    let output = place.run(words);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        shown.contains("would deny") && shown.contains("would rewrite"),
        "{shown}"
    );
    assert!(shown.contains("pending 0"), "{shown}");
}
