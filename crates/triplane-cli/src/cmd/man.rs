//! `triplane man`: manual pages, of the program and of each command.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::args::{Cli, ManArgs};
use crate::paint::Screen;
use crate::render::{Output, chain, complain};

pub(crate) fn run(args: &ManArgs, screen: Screen) -> ExitCode {
    match write(args, screen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

fn write(args: &ManArgs, screen: Screen) -> Result<()> {
    let mut program = Cli::command();
    program.build();
    let mut out = Output::new();
    let Some(folder) = &args.out else {
        let page = page(program).context("cannot write the page")?;
        out.line(page.trim_end());
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("--out {}: cannot make the folder", folder.display()))?;
    let mut pages = Vec::new();
    collect(program, "triplane", &mut pages);
    for (name, command) in pages {
        let path = folder.join(format!("{name}.1"));
        save(command, &path).with_context(|| format!("cannot write {}", path.display()))?;
        if !screen.quiet {
            out.line(path.display());
        }
    }
    Ok(())
}

/// The command and those below it, each with the name of its page: `triplane-session-show`.
fn collect(command: clap::Command, name: &str, pages: &mut Vec<(String, clap::Command)>) {
    for below in command
        .get_subcommands()
        .filter(|it| it.get_name() != "help")
    {
        collect(
            below.clone(),
            &format!("{name}-{}", below.get_name()),
            pages,
        );
    }
    pages.push((name.to_owned(), command));
}

fn save(command: clap::Command, path: &Path) -> io::Result<()> {
    std::fs::write(path, page(command)?)
}

fn page(command: clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
