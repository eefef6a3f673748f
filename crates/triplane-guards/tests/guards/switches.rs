//! The guards protect their own switches: git's files, the settings and hook files of harnesses, the
//! store. For commands as for paths.

use crate::support::refused_by;

/// Files that switch the guards on, in several spellings.
const SWITCHES: [&str; 18] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    "/srv/app/.claude/settings.json",
    ".claude/hooks/pre.sh",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".cursor/hooks.json",
    ".git/config",
    ".git/hooks/pre-commit",
    ".triplane/state.db",
    ".triplane/policy.toml",
    "sub/.claude/settings.json",
    ".claude/../.claude/settings.json",
    "~/.claude/settings.json",
    "~/.codex/config.toml",
    "~/.cursor/hooks.json",
    "$HOME/.claude/settings.json",
    "/home/dev/.claude/settings.json",
];

/// What changes, moves or removes the file `{}`.
const CHANGES: [&str; 61] = [
    "echo x > {}",
    "echo x >> {}",
    ": > {}",
    "printf x 1> {}",
    "exec 3> {}; echo x >&3",
    "cat > {} <<'E'\nx\nE",
    "jq . x > {}",
    "base64 -d x > {}",
    "echo x | tee {}",
    "tee -a {} < x",
    "echo x | sudo tee {} >/dev/null",
    "bash -c 'echo x > {}'",
    "sponge {}",
    "sed -i s/a/b/ {}",
    "sed --in-place=.bak s/a/b/ {}",
    "perl -pi -e s/a/b/ {}",
    "gawk -i inplace 1 {}",
    "yq -i .a=1 {}",
    "ed {} <<< d",
    "vim -c wq {}",
    "nano {}",
    "patch {} x.diff",
    "mv x {}",
    "mv {} x",
    "cp x {}",
    "cp -f x {}",
    "cp -r y/. {}",
    "install x {}",
    "ln -sf x {}",
    "rsync x {}",
    "scp h:x {}",
    "curl -o {} http://x",
    "wget -O {} http://x",
    "dd if=x of={}",
    "sort -o {} x",
    "xxd -r x {}",
    "openssl enc -out {} -in x",
    "tar -xf a.tar {}",
    "rm {}",
    "rm -f {}",
    "unlink {}",
    "shred {}",
    "find {} -delete",
    "git rm -f {}",
    "git restore {}",
    "git checkout HEAD -- {}",
    "truncate -s 0 {}",
    "touch {}",
    "mkdir -p {}",
    "mkfifo {}",
    "chmod 000 {}",
    "chattr +i {}",
    "sqlite3 {} 'delete from t'",
    "awk 'BEGIN{print \"x\" > \"{}\"}'",
    "python3 -c \"open('{}','w').write('x')\"",
    "python3 - <<'E'\nopen('{}','w')\nE",
    "python3 -c \"import shutil; shutil.rmtree('{}')\"",
    "node -e \"require('fs').writeFileSync('{}','x')\"",
    "ruby -e \"File.write('{}','x')\"",
    "php -r \"unlink('{}');\"",
    "perl -e \"unlink '{}'\"",
];

/// What looks at the file `{}`, or lets git do so.
const LOOKS: [&str; 19] = [
    "cat {}",
    "ls -la {}",
    "grep x {}",
    "jq . {}",
    "diff {} x",
    "head -3 {}",
    "wc -l {}",
    "stat {}",
    "cp {} backup.json",
    "test -f {}",
    "less {}",
    "git log -- {}",
    "git add {}",
    "git diff {}",
    "git status {}",
    "[ -e {} ] && echo y",
    "sed -n 1p {}",
    "tee out.txt < {}",
    "python3 -c \"print(open('{}').read())\"",
];

#[test]
fn no_command_changes_a_switch() {
    let all = || {
        SWITCHES
            .iter()
            .flat_map(|at| CHANGES.map(|how| how.replace("{}", at)))
    };
    let missed: Vec<String> = all()
        .filter(|command| refused_by(command).is_none())
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_switch_in_the_workspace_may_be_looked_at() {
    let all = SWITCHES[..13]
        .iter()
        .flat_map(|at| LOOKS.map(|how| how.replace("{}", at)));
    let refused: Vec<String> = all
        .filter_map(|command| refused_by(&command).map(|rule| format!("{rule}: {command}")))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn no_detour_leads_to_a_switch() {
    for command in [
        "rm -rf .claude",
        "rm -rf .codex",
        "rm -rf ~/.claude",
        "mv .claude x",
        "mv x .claude",
        "ln -sfn evil .claude",
        "ln -s /tmp/x .git",
        "find .claude -delete",
        "rsync -a --delete x/ .claude/",
        "cp -r evil/. .git/hooks/",
        "tar -xf a.tar -C .git",
        "unzip a.zip -d .claude",
        "cd .git && rm -f hooks/pre-commit",
        "cd .claude && echo x > settings.json",
        "pushd .git; rm -rf hooks",
        "(cd .codex && sed -i s/true/false/ config.toml)",
        "d=.claude; rm $d/settings.json",
        "f=.claude/settings.json; echo {} > $f",
        "rm .cl*/settings.json",
        "rm .claude/*",
        "rm .claude/s*.json",
        "rm -rf .c*",
        "rm -rf .gi?",
        "rm -rf .[g]it",
        "rm -rf .*",
        "rm -rf .GIT",
        "echo x > .CLAUDE/Settings.json",
        "chmod -R 000 .git",
        "chown -R root .git",
        "rm -rf $(git rev-parse --git-dir)",
        "rm \"$(git rev-parse --git-dir)/hooks/pre-commit\"",
        "sqlite3 .triplane/state.db < x.sql",
        "pkill triplane",
        "pkill -f 'triplane hook'",
    ] {
        assert!(refused_by(command).is_some(), "{command}");
    }
}

#[test]
fn what_only_looks_like_a_switch_is_free() {
    for command in [
        "rm .gitignore",
        "rm -rf .github/workflows/old.yml",
        "mkdir -p .claude/commands",
        "echo x > .claude/commands/review.md",
        "rm -rf .claude/skills/old",
        "rm .claude/commands/*",
        "rm *.json",
        "rm */settings.json",
        "rm -f .*.swp",
        "touch .claude/CLAUDE.md .gitattributes",
        "mkdir -p .cursor/rules && echo x > .cursor/rules/a.mdc",
        "echo x > .codex/prompts/a.md",
        "git commit -m 'edit .claude/settings.json'",
        "cat .codex/config.toml | grep model",
        "cp .claude/settings.json /tmp/s.json",
        "tar -C .git -cf git.tar hooks",
        "triplane doctor --store .triplane/state.db",
        "echo $(git rev-parse --git-dir)",
        "ls \"$(git rev-parse --git-dir)\"",
        "vim src/a.rs",
        "chmod +x scripts/x.sh",
        "sort -o out.txt in.txt",
        "pkill -f 'node server.js'",
    ] {
        assert_eq!(refused_by(command), None, "{command}");
    }
}
