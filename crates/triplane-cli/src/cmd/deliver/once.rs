//! `triplane deliver --once`: convey what is due now.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::args::DeliverArgs;
use crate::cmd::deliver::prepare::prepare;
use crate::paint::Screen;
use crate::render::{Output, chain, complain};
use crate::store_mode;

pub(crate) fn once(args: &DeliverArgs, screen: Screen) -> ExitCode {
    match deliver(args) {
        Ok(_told) if screen.quiet && !args.json => ExitCode::SUCCESS,
        Ok(told) => {
            let mut out = Output::new();
            if args.json {
                out.json(&told);
            } else {
                let Told {
                    delivered,
                    retried,
                    dead_lettered,
                    unknown,
                    pending,
                } = told;
                out.line(format_args!("delivered {delivered}, pending {pending}"));
                if retried + unknown + dead_lettered > 0 {
                    out.line(format_args!(
                        "of the attempts, {retried} are tried again later, {unknown} ended without \
                         an answer, {dead_lettered} were given up; triplane outbox ls shows why"
                    ));
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

#[derive(Debug, Serialize)]
struct Told {
    delivered: u64,
    retried: u64,
    unknown: u64,
    dead_lettered: u64,
    pending: u64,
}

fn deliver(args: &DeliverArgs) -> Result<Told> {
    let (builder, tokio) = prepare(args)?;
    tokio.block_on(async {
        store_mode::report(&args.store.store);
        let runtime = builder.open().await?;
        let delivered = runtime.deliver_due().await;
        let left = runtime.shutdown(Duration::ZERO).await?;
        let tally = delivered?;
        Ok(Told {
            delivered: tally.delivered,
            retried: tally.retried,
            unknown: tally.unknown,
            dead_lettered: tally.dead_lettered,
            pending: left.pending,
        })
    })
}
