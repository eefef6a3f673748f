//! Reads JSON strings, one command a line, and prints each with the rule that refuses it.
use std::io::BufRead as _;
fn main() {
    let place = triplane_guards::Place::new("/srv/app", Some(std::path::Path::new("/home/dev")));
    for line in std::io::stdin().lock().lines() {
        let command: String = serde_json::from_str(&line.unwrap()).unwrap();
        match triplane_guards::command::explain::explain(&command, &place) {
            Ok(e) => {
                let by = e.refusal.map(|r| r.to_string()).or(e.severest().map(|o| format!("{} {}", o.rule.id, o.detail.clone().unwrap_or_default())));
                println!("{}\t{:?}", by.unwrap_or("ALLOW".into()), command);
            }
            Err(err) => println!("ERR {err}\t{command:?}"),
        }
    }
}
