//! `triplane deliver --watch`: convey what is due and what comes due, until told to stop.

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use tokio::time::sleep;
use triplane::state::{DeliveryTally, StateError};

use crate::args::DeliverArgs;
use crate::cmd::deliver::prepare::prepare;
use crate::paint::Screen;
use crate::render::{Output, chain, complain};
use crate::stop::Stop;
use crate::store_mode;

/// The last line: what it did in all, and what it left.
#[derive(Debug, Serialize)]
struct Ended {
    stopped: &'static str,
    #[serde(flatten)]
    total: DeliveryTally,
    pending: u64,
    /// Whether attempts were cut off; they are made again, under the same keys.
    cut_off: bool,
}

pub(crate) fn watch(args: &DeliverArgs, screen: Screen) -> ExitCode {
    let mut out = Output::new();
    match deliver(args, screen, &mut out) {
        Ok(stopped) => {
            if args.json {
                out.json(&stopped);
            } else if !screen.quiet {
                out.line(format_args!(
                    "{}: delivered {}, left {} pending{}",
                    stopped.stopped,
                    stopped.total.delivered,
                    stopped.pending,
                    if stopped.cut_off {
                        "; attempts under way were cut off and are made again"
                    } else {
                        ""
                    }
                ));
            }
            ExitCode::from(u8::from(stopped.cut_off))
        }
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

fn deliver(args: &DeliverArgs, screen: Screen, out: &mut Output) -> Result<Ended> {
    let (builder, tokio) = prepare(args)?;
    tokio.block_on(async {
        store_mode::report(&args.store.store);
        let stop = Stop::listen()?;
        let runtime = builder.open().await?;
        let mut trouble = String::new();
        let mut total = DeliveryTally::default();
        let told = |told: Result<DeliveryTally, &StateError>| match told {
            Ok(done) => {
                trouble.clear();
                total.add(done);
                if args.json {
                    out.json(&done);
                } else if !screen.quiet {
                    out.line(format_args!(
                        "delivered {}, {} tried again later, {} given up",
                        done.delivered,
                        done.retried + done.unknown,
                        done.dead_lettered
                    ));
                }
            }
            Err(error) => {
                // Once for each trouble, however long it lasts.
                let says = error.to_string();
                if says != trouble {
                    complain(format_args!("{says}; deliveries wait"));
                    trouble = says;
                }
            }
        };
        let asked = async {
            stop.wait().await;
        };
        let over = async {
            stop.wait().await;
            sleep(args.grace).await;
        };
        let cut_off = {
            let watching = pin!(runtime.watch(asked, told));
            tokio::select! {
                biased;
                _total = watching => false,
                () = over => true,
            }
        };
        let signal = stop.wait().await;
        let left = runtime.shutdown(Duration::ZERO).await?;
        Ok(Ended {
            stopped: signal.name(),
            total,
            pending: left.pending,
            cut_off,
        })
    })
}
