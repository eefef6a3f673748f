//! `triplane outbox ack`: a consumer confirms what it was sent.

use std::process::ExitCode;

use serde::Serialize;
use triplane::state::{Acknowledgement, Store};

use crate::args::OutboxAckArgs;
use crate::cmd::outbox::choice::missing;
use crate::render::{Output, complain};

#[derive(Debug, Serialize)]
struct Told<'a> {
    intent: &'a str,
    #[serde(flatten)]
    acknowledgement: Acknowledgement,
}

pub(crate) async fn ack(
    args: &OutboxAckArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let acknowledgement = store.acknowledge(&args.id, &args.token).await?;
    let id = &args.id;
    if args.json {
        out.json(&Told {
            intent: id,
            acknowledgement,
        });
    }
    let mut say = |text: &str| {
        if !args.json {
            out.line(format_args!("{id} {text}"));
        }
    };
    Ok(match acknowledgement {
        Acknowledgement::Acked { attempt } => {
            say(&format!(
                "is acknowledged, with the token of attempt {attempt}"
            ));
            ExitCode::SUCCESS
        }
        Acknowledgement::Before => {
            say("was acknowledged before");
            ExitCode::SUCCESS
        }
        Acknowledgement::TooLate { status } => {
            complain(format_args!(
                "the acknowledgement comes too late: {id} is {}; triplane outbox retry {id} sends \
                 it again",
                status.as_str()
            ));
            ExitCode::FAILURE
        }
        refused => {
            complain(match refused {
                Acknowledgement::Unknown => missing(id),
                Acknowledgement::NotAsked => format!(
                    "{id} asks for no acknowledgement: it is done when its sink has taken it"
                ),
                Acknowledgement::NotSent => format!("{id} was not sent yet, so it has no token"),
                _ => format!("the token is none that was sent with {id}"),
            });
            ExitCode::from(2)
        }
    })
}
