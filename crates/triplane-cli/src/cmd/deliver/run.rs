//! Which way of delivering was asked for.

use std::process::ExitCode;

use crate::args::DeliverArgs;
use crate::cmd::deliver::once::once;
use crate::cmd::deliver::watch::watch;
use crate::paint::Screen;

pub(crate) fn run(args: &DeliverArgs, screen: Screen) -> ExitCode {
    if args.watch {
        watch(args, screen)
    } else {
        once(args, screen)
    }
}
