//! Containers, clusters and machines.

use crate::command::layers::layer::{Host, Layer, Mount, command};
use crate::command::layers::operands::{operand, values_of};
use crate::command::word::Word;

pub(crate) const CONTAINER_VALUES: [&str; 62] = [
    "-e",
    "--env",
    "--env-file",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "--mount",
    "-l",
    "--label",
    "--entrypoint",
    "-h",
    "--hostname",
    "--platform",
    "-m",
    "--memory",
    "--cpus",
    "--gpus",
    "--ip",
    "--add-host",
    "--device",
    "--cap-add",
    "--cap-drop",
    "--restart",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "-a",
    "--attach",
    "--link",
    "--log-driver",
    "--log-opt",
    "--pull",
    "--runtime",
    "--volumes-from",
    "--expose",
    "--dns",
    "--cidfile",
    "--pid",
    "--ipc",
    "--userns",
    "--uts",
    "--cgroupns",
    "--detach-keys",
    "--index",
    "-H",
    "--host",
    "-c",
    "--context",
    "--config",
    "--stop-signal",
    "--stop-timeout",
    "--health-cmd",
    "--group-add",
];

pub(crate) fn container(args: &[Word]) -> Vec<Layer> {
    let mut at = operand(
        args,
        &[
            "-H",
            "--host",
            "-c",
            "--context",
            "--config",
            "-l",
            "--log-level",
        ],
    );
    if matches!(args.get(at).and_then(Word::literal), Some("container")) {
        at += 1;
    }
    let rest = args.get(at + 1..).unwrap_or_default();
    match args.get(at).and_then(Word::literal) {
        Some("exec") => inside(rest, &CONTAINER_VALUES),
        Some("run" | "create") => {
            let image = operand(rest, &CONTAINER_VALUES).min(rest.len());
            let own = &rest[..image];
            let mut argv = after(rest, image).to_vec();
            // With an entry point of its own, the words behind the image are its arguments.
            if let Some(entry) = values_of(own, &["--entrypoint"]).next() {
                argv = vec![entry];
                argv.extend_from_slice(rest.get(image + 1..).unwrap_or_default());
            }
            let mounts = mounts(own);
            if mounts.is_empty() || argv.is_empty() {
                return command(&argv, Host::Elsewhere);
            }
            let folder = values_of(own, &["-w", "--workdir"]).next();
            vec![Layer::Bound {
                argv,
                mounts,
                folder,
            }]
        }
        Some("compose") => compose(rest),
        _ => Vec::new(),
    }
}

/// The command behind the name of a container, a service or an image.
pub(crate) fn inside(args: &[Word], values: &[&str]) -> Vec<Layer> {
    command(after(args, operand(args, values)), Host::Elsewhere)
}

/// The command behind the name at `name`.
fn after(args: &[Word], name: usize) -> &[Word] {
    let rest = args.get(name + 1..).unwrap_or_default();
    match rest.first().and_then(Word::literal) {
        Some("--") => &rest[1..],
        Some(_) | None => rest,
    }
}

/// The folders of this machine that the options bind into a container.
fn mounts(options: &[Word]) -> Vec<Mount> {
    let short = values_of(options, &["-v", "--volume"]).filter_map(|word| {
        let mut fields = word.literal()?.split(':');
        let source = fields.next()?.to_owned();
        let target = fields.next()?.to_owned();
        Some(Mount { source, target })
    });
    let long = values_of(options, &["--mount"]).filter_map(|word| {
        let text = word.literal()?;
        let field = |names: [&str; 3]| {
            text.split(',')
                .filter_map(|pair| pair.split_once('='))
                .find(|(name, _)| names.contains(name))
                .map(|(_, value)| value.to_owned())
        };
        Some(Mount {
            source: field(["source", "src", "source"])?,
            target: field(["target", "dst", "destination"])?,
        })
    });
    // A name without a slash is that of a volume.
    short
        .chain(long)
        .filter(|mount| mount.source.starts_with(['/', '.']) && mount.target.starts_with('/'))
        .collect()
}

pub(crate) fn compose(args: &[Word]) -> Vec<Layer> {
    let at = operand(
        args,
        &[
            "-f",
            "--file",
            "-p",
            "--project-name",
            "--profile",
            "--env-file",
            "--project-directory",
            "--ansi",
            "--parallel",
        ],
    );
    match args.get(at).and_then(Word::literal) {
        Some("exec" | "run") => inside(args.get(at + 1..).unwrap_or_default(), &CONTAINER_VALUES),
        _ => Vec::new(),
    }
}

pub(crate) fn kubectl(args: &[Word]) -> Vec<Layer> {
    let runs = args
        .iter()
        .position(|word| matches!(word.literal(), Some("exec" | "run" | "debug" | "rsh")));
    let Some(at) = runs else {
        return Vec::new();
    };
    let rest = &args[at + 1..];
    match rest.iter().position(|word| word.literal() == Some("--")) {
        Some(end) => command(&rest[end + 1..], Host::Elsewhere),
        None => inside(
            rest,
            &[
                "-n",
                "--namespace",
                "-c",
                "--container",
                "--context",
                "--image",
                "-f",
            ],
        ),
    }
}

pub(crate) fn machine(args: &[Word]) -> Vec<Layer> {
    match args.first().and_then(Word::literal) {
        Some("exec") => inside(&args[1..], &["--env", "--user", "--cwd"]),
        _ => Vec::new(),
    }
}
